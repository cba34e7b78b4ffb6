-- SPDX-License-Identifier: MIT
-- SQLite in memory: a table of 300,000 rows, an index, a join, a sort; prints only aggregates.
pragma temp_store = memory;
create table a (id integer primary key, k integer, pad text);
with recursive n (i) as (select 1 union all select i + 1 from n where i < 300000)
	insert into a select i, i * 2654435761 % 1000003,
		hex(i * 7919) || printf('%.*c', 200, 'x') from n;
create index a_k on a (k);
select count(*), sum(k), sum(length(pad)) from a;
select count(*), sum(y.id) from a x join a y on y.k = x.id;
select sum(length(p)), min(p), max(p) from (select pad || k as p from a order by pad desc, k);
delete from a where id % 3 = 0;
vacuum;
pragma integrity_check;
select count(*), sum(k), total(id) from a;

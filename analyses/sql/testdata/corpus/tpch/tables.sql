CREATE TABLE region FROM 'region.csv' (r_regionkey BIGINT, r_name TEXT, r_comment TEXT);
CREATE TABLE nation FROM 'nation.csv' (n_nationkey BIGINT, n_name TEXT, n_regionkey BIGINT, n_comment TEXT);
CREATE TABLE supplier FROM 'supplier.csv' (s_suppkey BIGINT, s_name TEXT, s_address TEXT, s_nationkey BIGINT, s_phone TEXT, s_acctbal DECIMAL(15, 2), s_comment TEXT);
CREATE TABLE part FROM 'part.csv' (p_partkey BIGINT, p_name TEXT, p_mfgr TEXT, p_brand TEXT, p_type TEXT, p_size BIGINT, p_container TEXT, p_retailprice DECIMAL(15, 2), p_comment TEXT);
CREATE TABLE partsupp FROM 'partsupp.csv' (ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty BIGINT, ps_supplycost DECIMAL(15, 2), ps_comment TEXT);
CREATE TABLE customer FROM 'customer.csv' (c_custkey BIGINT, c_name TEXT, c_address TEXT, c_nationkey BIGINT, c_phone TEXT, c_acctbal DECIMAL(15, 2), c_mktsegment TEXT, c_comment TEXT);
CREATE TABLE orders FROM 'orders.csv' (o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus TEXT, o_totalprice DECIMAL(15, 2), o_orderdate DATE, o_orderpriority TEXT, o_clerk TEXT, o_shippriority BIGINT, o_comment TEXT);
CREATE TABLE lineitem FROM 'lineitem.csv' (l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber BIGINT, l_quantity DECIMAL(15, 2), l_extendedprice DECIMAL(15, 2), l_discount DECIMAL(15, 2), l_tax DECIMAL(15, 2), l_returnflag TEXT, l_linestatus TEXT, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct TEXT, l_shipmode TEXT, l_comment TEXT);

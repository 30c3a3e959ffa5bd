-- Questions to a warehouse of TPC-DS tables, in the shape of its queries and not the same: figures of them are no TPC
-- results. The name of each stands before it, and its answer is ordered by all columns, as far as it is cut off.

-- name: brands of a manufacturer, by year
SELECT d_year, i_brand_id, i_brand, sum(ss_ext_discount_amt) AS discount
FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk JOIN item ON ss_item_sk = i_item_sk
WHERE i_manufact_id BETWEEN 100 AND 140 AND d_moy = 12
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: categories of a month
SELECT d_year, i_category_id, i_category, sum(ss_ext_sales_price) AS sales
FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk JOIN item ON ss_item_sk = i_item_sk
WHERE d_year = 2000 AND d_moy = 11 AND i_manager_id < 10
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: what people of a kind buy without promotion
SELECT i_item_id, avg(ss_quantity) AS quantity, avg(ss_list_price) AS price, avg(ss_coupon_amt) AS coupon
FROM store_sales
  JOIN customer_demographics ON ss_cdemo_sk = cd_demo_sk
  JOIN date_dim ON ss_sold_date_sk = d_date_sk
  JOIN item ON ss_item_sk = i_item_sk
  JOIN promotion ON ss_promo_sk = p_promo_sk
WHERE cd_gender = 'F' AND cd_marital_status = 'W' AND cd_education_status = 'College' AND d_year = 2001
  AND (p_channel_email = 'N' OR p_channel_event = 'N')
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: brands that travel
SELECT i_brand_id, i_brand, i_manufact_id, sum(ss_ext_sales_price) AS sales
FROM store_sales
  JOIN date_dim ON ss_sold_date_sk = d_date_sk
  JOIN item ON ss_item_sk = i_item_sk
  JOIN customer ON ss_customer_sk = c_customer_sk
  JOIN customer_address ON c_current_addr_sk = ca_address_sk
  JOIN store ON ss_store_sk = s_store_sk
WHERE i_manager_id BETWEEN 5 AND 9 AND d_year = 1999 AND d_moy = 10 AND left(ca_zip, 3) <> left(s_zip, 3)
GROUP BY ALL ORDER BY sales DESC, i_brand_id, i_brand, i_manufact_id LIMIT 100;

-- name: days of the week, by store
SELECT s_store_name, s_store_id, d_dow, count(*) AS sold, sum(ss_sales_price) AS sales
FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk JOIN store ON ss_store_sk = s_store_sk
WHERE d_year = 2002
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: large baskets
SELECT c_last_name, c_first_name, ss_ticket_number, items
FROM (
  SELECT ss_ticket_number, ss_customer_sk, count(*) AS items
  FROM store_sales
    JOIN date_dim ON ss_sold_date_sk = d_date_sk
    JOIN household_demographics ON ss_hdemo_sk = hd_demo_sk
  WHERE d_dom <= 4 AND d_year IN (1999, 2000) AND hd_vehicle_count > 1 AND hd_dep_count > 2
  GROUP BY ALL
) JOIN customer ON ss_customer_sk = c_customer_sk
WHERE items BETWEEN 13 AND 20
ORDER BY ALL LIMIT 100;

-- name: weekends away from home
SELECT c_last_name, c_first_name, ca_city, bought, ss_ticket_number, amount, profit
FROM (
  SELECT ss_ticket_number, ss_customer_sk, ca_city AS bought, sum(ss_coupon_amt) AS amount, sum(ss_net_profit) AS profit
  FROM store_sales
    JOIN date_dim ON ss_sold_date_sk = d_date_sk
    JOIN household_demographics ON ss_hdemo_sk = hd_demo_sk
    JOIN customer_address ON ss_addr_sk = ca_address_sk
  WHERE d_dow IN (0, 6) AND d_year = 2000 AND (hd_dep_count = 5 OR hd_vehicle_count = 3)
  GROUP BY ALL
) JOIN customer ON ss_customer_sk = c_customer_sk
  JOIN customer_address AS home ON c_current_addr_sk = home.ca_address_sk
WHERE home.ca_city <> bought
ORDER BY ALL LIMIT 100;

-- name: an hour of the day
SELECT count(*) AS sold
FROM store_sales
  JOIN household_demographics ON ss_hdemo_sk = hd_demo_sk
  JOIN time_dim ON ss_sold_time_sk = t_time_sk
WHERE t_hour = 19 AND t_minute < 30 AND hd_dep_count = 6;

-- name: one category in three channels
SELECT i_item_id, sum(sales) AS total
FROM (
  SELECT ss_item_sk AS item_sk, ss_sold_date_sk AS date_sk, ss_ext_sales_price AS sales FROM store_sales
  UNION ALL SELECT cs_item_sk, cs_sold_date_sk, cs_ext_sales_price FROM catalog_sales
  UNION ALL SELECT ws_item_sk, ws_sold_date_sk, ws_ext_sales_price FROM web_sales
) JOIN date_dim ON date_sk = d_date_sk JOIN item ON item_sk = i_item_sk
WHERE d_year = 1998 AND d_moy = 9 AND i_category = 'Music'
GROUP BY ALL ORDER BY total, i_item_id LIMIT 100;

-- name: returned, and bought again
SELECT i_item_id, s_store_id, sum(ss_quantity) AS sold, sum(sr_return_quantity) AS returned, sum(cs_quantity) AS again
FROM store_sales
  JOIN store_returns
    ON ss_customer_sk = sr_customer_sk AND ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number
  JOIN catalog_sales ON sr_customer_sk = cs_bill_customer_sk AND sr_item_sk = cs_item_sk
  JOIN date_dim ON ss_sold_date_sk = d_date_sk
  JOIN item ON ss_item_sk = i_item_sk
  JOIN store ON ss_store_sk = s_store_sk
WHERE d_year BETWEEN 1999 AND 2001
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: months that differ from the average
SELECT i_manager_id, d_moy, sales, round(average, 2) AS average
FROM (
  SELECT i_manager_id, d_moy, sum(ss_sales_price) AS sales,
    avg(sum(ss_sales_price)) OVER (PARTITION BY i_manager_id) AS average
  FROM store_sales JOIN item ON ss_item_sk = i_item_sk JOIN date_dim ON ss_sold_date_sk = d_date_sk
  WHERE d_year = 2001 AND i_category IN ('Books', 'Children', 'Electronics')
  GROUP BY i_manager_id, d_moy
)
WHERE abs(sales - average) > average / 10
ORDER BY ALL LIMIT 100;

-- name: items that sell badly in a store
WITH revenue AS (
  SELECT ss_store_sk, ss_item_sk, sum(ss_sales_price) AS sales
  FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk
  WHERE d_month_seq BETWEEN 1176 AND 1187
  GROUP BY ALL
)
SELECT s_store_id, i_item_id, sales, i_current_price
FROM revenue
  JOIN (SELECT ss_store_sk AS store_sk, avg(sales) AS average FROM revenue GROUP BY ALL) ON ss_store_sk = store_sk
  JOIN store ON ss_store_sk = s_store_sk
  JOIN item ON ss_item_sk = i_item_sk
WHERE sales < average / 10
ORDER BY ALL LIMIT 100;

-- name: half hours of a morning
SELECT
  count_if(t_hour = 8 AND t_minute >= 30) AS h8_30, count_if(t_hour = 9 AND t_minute < 30) AS h9,
  count_if(t_hour = 9 AND t_minute >= 30) AS h9_30, count_if(t_hour = 10 AND t_minute < 30) AS h10,
  count_if(t_hour = 10 AND t_minute >= 30) AS h10_30, count_if(t_hour = 11 AND t_minute < 30) AS h11
FROM store_sales
  JOIN time_dim ON ss_sold_time_sk = t_time_sk
  JOIN household_demographics ON ss_hdemo_sk = hd_demo_sk
WHERE t_hour BETWEEN 8 AND 11 AND hd_vehicle_count <= hd_dep_count + 2;

-- name: stock before and after a day
SELECT w_warehouse_name, i_item_id,
  sum(CASE WHEN d_date < DATE'2000-03-11' THEN inv_quantity_on_hand ELSE 0 END) AS before,
  sum(CASE WHEN d_date >= DATE'2000-03-11' THEN inv_quantity_on_hand ELSE 0 END) AS after
FROM inventory
  JOIN warehouse ON inv_warehouse_sk = w_warehouse_sk
  JOIN item ON inv_item_sk = i_item_sk
  JOIN date_dim ON inv_date_sk = d_date_sk
WHERE d_date BETWEEN DATE'2000-02-10' AND DATE'2000-04-10' AND i_current_price BETWEEN 0.99 AND 1.49
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: customers of all channels
SELECT count(*) AS customers
FROM (
  SELECT ss_customer_sk FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk WHERE d_year = 2000
  INTERSECT SELECT cs_bill_customer_sk FROM catalog_sales JOIN date_dim ON cs_sold_date_sk = d_date_sk WHERE d_year = 2000
  INTERSECT SELECT ws_bill_customer_sk FROM web_sales JOIN date_dim ON ws_sold_date_sk = d_date_sk WHERE d_year = 2000
);

-- name: customers who spend more each year
WITH yearly AS (
  SELECT ss_customer_sk AS customer, d_year, sum(ss_net_paid) AS paid
  FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk
  WHERE d_year IN (2000, 2001)
  GROUP BY ALL
)
SELECT c_customer_id, c_first_name, c_last_name, past.paid AS past, now.paid AS now
FROM yearly AS past JOIN yearly AS now USING (customer) JOIN customer ON customer = c_customer_sk
WHERE past.d_year = 2000 AND now.d_year = 2001 AND now.paid > past.paid AND past.paid > 0
ORDER BY ALL LIMIT 100;

-- name: what part of its class an item is
SELECT i_item_id, i_category, i_class, sales, round(sales * 100 / sum(sales) OVER (PARTITION BY i_class), 4) AS part
FROM (
  SELECT i_item_id, i_category, i_class, sum(ss_ext_sales_price) AS sales
  FROM store_sales JOIN item ON ss_item_sk = i_item_sk JOIN date_dim ON ss_sold_date_sk = d_date_sk
  WHERE i_category IN ('Sports', 'Books', 'Home') AND d_date BETWEEN DATE'1999-02-22' AND DATE'1999-03-24'
  GROUP BY ALL
)
ORDER BY ALL LIMIT 100;

-- name: places that buy by catalog
SELECT ca_zip, sum(cs_sales_price) AS sales
FROM catalog_sales
  JOIN customer ON cs_bill_customer_sk = c_customer_sk
  JOIN customer_address ON c_current_addr_sk = ca_address_sk
  JOIN date_dim ON cs_sold_date_sk = d_date_sk
WHERE d_qoy = 2 AND d_year = 2001 AND (ca_state IN ('CA', 'WA', 'GA') OR cs_sales_price > 200)
GROUP BY ALL ORDER BY ALL LIMIT 100;

-- name: prices by quantity
SELECT ss_quantity DIV 20 AS band, count(*) AS sold, avg(ss_list_price) AS price, count(DISTINCT ss_list_price) AS prices
FROM store_sales
WHERE ss_quantity BETWEEN 1 AND 100 AND (ss_list_price BETWEEN 8 AND 90 OR ss_coupon_amt > 400)
GROUP BY ALL ORDER BY ALL;

-- name: days until it is sent
SELECT sm_type, cc_name,
  count_if(cs_ship_date_sk - cs_sold_date_sk <= 30) AS month,
  count_if(cs_ship_date_sk - cs_sold_date_sk BETWEEN 31 AND 60) AS two,
  count_if(cs_ship_date_sk - cs_sold_date_sk > 60) AS more
FROM catalog_sales
  JOIN ship_mode ON cs_ship_mode_sk = sm_ship_mode_sk
  JOIN call_center ON cs_call_center_sk = cc_call_center_sk
  JOIN date_dim ON cs_ship_date_sk = d_date_sk
WHERE d_month_seq BETWEEN 1200 AND 1211
GROUP BY ALL ORDER BY ALL LIMIT 100;

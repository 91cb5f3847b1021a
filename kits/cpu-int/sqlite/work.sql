-- Work for the database, in memory. @ROWS@ and @SEED@ are put in when the input is made. Whole numbers and
-- texts only, so that every row that comes out is the same everywhere.
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, country INTEGER);
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, city INTEGER, born INTEGER);
CREATE TABLE payment (id INTEGER PRIMARY KEY, payer INTEGER, payee INTEGER, amount INTEGER, day INTEGER, note TEXT);

WITH RECURSIVE draw(id, r) AS (
  SELECT 1, (@SEED@ * 48271) % 2147483647
  UNION ALL SELECT id + 1, (r * 48271) % 2147483647 FROM draw WHERE id < 500)
INSERT INTO city SELECT id, 'city ' || (r % 9973), r % 40 FROM draw;

WITH RECURSIVE draw(id, r) AS (
  SELECT 1, ((@SEED@ + 7) * 48271) % 2147483647
  UNION ALL SELECT id + 1, (r * 48271) % 2147483647 FROM draw WHERE id < @ROWS@ / 10)
INSERT INTO person SELECT id, printf('%c%c%c%d', 97 + r % 26, 97 + r / 26 % 26, 97 + r / 676 % 26, r % 100),
  1 + r % 500, 1920 + r / 500 % 90 FROM draw;

BEGIN;
WITH RECURSIVE draw(id, r, q) AS (
  SELECT 1, ((@SEED@ + 11) * 48271) % 2147483647, ((@SEED@ + 13) * 16807) % 2147483647
  UNION ALL SELECT id + 1, (r * 48271) % 2147483647, (q * 16807) % 2147483647 FROM draw WHERE id < @ROWS@)
INSERT INTO payment SELECT id, 1 + r % (@ROWS@ / 10), 1 + q % (@ROWS@ / 10), 1 + (r / 7) % 100000, (q / 11) % 3650,
  'invoice ' || (r % 100003) FROM draw;
COMMIT;

CREATE INDEX payment_payer ON payment (payer, day);
CREATE INDEX person_city ON person (city);

-- Joins and groups.
SELECT c.country, count(*), sum(p.amount), max(p.day) FROM payment p
  JOIN person a ON a.id = p.payer JOIN city c ON c.id = a.city GROUP BY c.country ORDER BY c.country;
SELECT born / 10 * 10 AS decade, count(DISTINCT city), sum(length(name)) FROM person GROUP BY decade ORDER BY decade;
-- A correlated question through an index.
SELECT count(*), sum(last) FROM (SELECT (SELECT max(day) FROM payment WHERE payer = person.id) AS last FROM person);
-- Windows.
SELECT sum(rank), sum(total) FROM (
  SELECT rank() OVER (PARTITION BY day / 365 ORDER BY amount DESC, id) AS rank,
         sum(amount) OVER (PARTITION BY payer ORDER BY day, id) AS total FROM payment WHERE id % 3 = 0);
-- Texts and patterns.
SELECT count(*), sum(length(note)) FROM payment WHERE note LIKE '%77%' OR note GLOB '*1?1';
SELECT note, count(*) AS n FROM payment GROUP BY note ORDER BY n DESC, note LIMIT 20;
-- Changes.
UPDATE payment SET amount = amount + (day % 7) WHERE payer IN (SELECT id FROM person WHERE born < 1960);
DELETE FROM payment WHERE day % 10 = 3 AND amount < 50000;
SELECT count(*), sum(amount), sum(id % 1000) FROM payment;
-- A graph: who is reached from the first by large payments.
WITH RECURSIVE reached(id) AS (
  SELECT 1 UNION SELECT payee FROM payment JOIN reached ON payer = reached.id WHERE amount > 60000)
SELECT count(*), sum(id) FROM reached;
PRAGMA integrity_check;

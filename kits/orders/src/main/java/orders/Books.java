package orders;

import java.util.Map;

/** Checks that a warehouse adds up. */
final class Books {
    private Books() {}

    /** The first thing that does not add up, as a sentence; null when all does. */
    static String wrong(Warehouse w) {
        String found = money(w);
        if (found == null) {
            found = stock(w);
        }
        for (int d = 0; found == null && d < w.districts.length; d++) {
            found = orders(w, w.districts[d]);
        }
        return found == null ? null : "warehouse " + w.id + ": " + found;
    }

    /** Money that came in is on every book that it must be on, and what went out was ordered. */
    private static String money(Warehouse w) {
        long districts = 0;
        long customers = 0;
        long balances = 0;
        long waiting = 0;
        long sold = 0;
        for (District d : w.districts) {
            districts += d.paid;
            sold += d.nextOrder - 1;
            for (Customer c : d.customers.values()) {
                customers += c.paid;
                balances += c.balance;
            }
            for (Order o : d.waiting.values()) {
                waiting += o.total;
            }
        }
        long history = w.carriedPayments;
        for (History h : w.history) {
            history += h.amount;
        }
        if (districts != w.paid || customers != w.paid || history != w.paid) {
            return "money in is " + w.paid + " cents by the warehouse, " + districts + " by its districts, "
                + customers + " by the customers and " + history + " by the history";
        }
        if (balances != w.delivered - w.paid) {
            return "the customers' balances are " + balances + " cents, delivered less paid is " + (w.delivered - w.paid);
        }
        if (w.ordered != w.delivered + waiting) {
            return w.ordered + " cents were ordered, " + w.delivered + " delivered and " + waiting + " wait";
        }
        return sold == w.newOrders ? null : w.newOrders + " orders were taken, the districts numbered " + sold;
    }

    private static String stock(Warehouse w) {
        long now = 0;
        long sold = 0;
        long restocked = 0;
        for (Stock s : w.stock.values()) {
            if (s.quantity < 0) {
                return "the stock of item " + s.item + " is " + s.quantity;
            }
            now += s.quantity;
            sold += s.sold;
            restocked += s.restocked;
        }
        long expected = w.firstQuantity + restocked - sold;
        return now == expected ? null : "there are " + now + " pieces in stock, by what came and went there are " + expected;
    }

    /** Numbers of orders are dense, and those that wait are the last ones. */
    private static String orders(Warehouse w, District d) {
        String dense = dense(d, "order", d.orders);
        if (dense == null) {
            dense = dense(d, "waiting order", d.waiting);
        }
        if (dense != null) {
            return dense;
        }
        for (Order o : d.orders.values()) {
            if (o.delivered() == d.waiting.containsKey(o.id)) {
                return "order " + o.id + " of district " + d.id + " is both delivered and waiting, or neither";
            }
        }
        return null;
    }

    private static String dense(District d, String what, Map<Integer, Order> orders) {
        int expected = d.nextOrder - orders.size();
        for (Map.Entry<Integer, Order> entry : orders.entrySet()) {
            if (entry.getKey() != expected || entry.getValue().id != expected) {
                return "district " + d.id + " has " + what + " " + entry.getKey() + " where " + expected + " should be";
            }
            expected++;
        }
        return null;
    }
}

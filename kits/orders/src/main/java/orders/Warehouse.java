package orders;

import java.util.ArrayDeque;
import java.util.TreeMap;

/**
 * A warehouse: about 25 MB of objects that one thread works on. Nothing of it is shared with other
 * warehouses but the list of items. Its clock counts transactions, so that what it writes depends on
 * its seeds alone.
 */
final class Warehouse {
    /** So many payments are kept; the sum of older ones is carried. */
    static final int KEPT_PAYMENTS = 6000;

    final int id;
    final Item[] items;
    final String name;
    final String street;
    final TreeMap<Integer, Stock> stock = new TreeMap<>();
    final District[] districts = new District[Stock.DISTRICTS];
    final ArrayDeque<History> history = new ArrayDeque<>();
    final long firstQuantity;
    long nextPayment = 1;
    long carriedPayments;
    long paid;
    long ordered;
    long delivered;
    long newOrders;
    long clock;

    Warehouse(int id, long seed, Item[] items, int customers) {
        Rng rng = Rng.of(seed, id, 2);
        this.id = id;
        this.items = items;
        name = rng.letters(6, 10);
        street = rng.letters(10, 20);
        long quantity = 0;
        for (int item = 1; item < items.length; item++) {
            Stock of = new Stock(item, rng);
            quantity += of.quantity;
            stock.put(item, of);
        }
        firstQuantity = quantity;
        for (int d = 0; d < districts.length; d++) {
            districts[d] = new District(d + 1, customers, rng);
        }
        // A past: everybody has paid once and ordered once.
        for (District district : districts) {
            for (Customer customer : district.customers.values()) {
                pay(district, customer, 1000, rng.letters(12, 24));
                order(district, customer, rng);
            }
        }
    }

    void pay(District district, Customer customer, long amount, String data) {
        paid += amount;
        district.paid += amount;
        customer.paid += amount;
        customer.balance -= amount;
        History entry = new History(nextPayment++, district.id, customer.id, ++clock, amount, data);
        history.addLast(entry);
        customer.remember(entry);
        if (history.size() > KEPT_PAYMENTS) {
            carriedPayments += history.removeFirst().amount;
        }
    }

    Order order(District district, Customer customer, Rng rng) {
        Order.Line[] lines = new Order.Line[rng.between(5, 15)];
        for (int i = 0; i < lines.length; i++) {
            Item item = items[rng.skewed(1023, items.length - 1)];
            Stock of = stock.get(item.id);
            int count = rng.between(1, 10);
            of.take(count);
            lines[i] = new Order.Line(item, count, of.marks[district.id - 1]);
        }
        Order order = new Order(district.nextOrder++, district.id, customer, ++clock, lines);
        district.add(order);
        ordered += order.total;
        newOrders++;
        return order;
    }

    void deliver(Order order, int carrier) {
        order.carrier = carrier;
        clock++;
        for (Order.Line line : order.lines) {
            line.delivered = clock;
        }
        order.customer.balance += order.total;
        order.customer.deliveries++;
        delivered += order.total;
    }
}

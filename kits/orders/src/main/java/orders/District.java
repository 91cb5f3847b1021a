package orders;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** A district of a warehouse: its customers and the orders that it keeps. */
final class District {
    /** So many orders are kept; older ones that were delivered are let go. */
    static final int KEPT = 300;
    /** A delivery leaves no more than so many orders waiting. */
    static final int WAITING = 30;

    final int id;
    final String name;
    final String street;
    final TreeMap<Integer, Customer> customers = new TreeMap<>();
    final TreeMap<String, List<Customer>> byName = new TreeMap<>();
    final TreeMap<Integer, Order> orders = new TreeMap<>();
    final TreeMap<Integer, Order> waiting = new TreeMap<>();
    int nextOrder = 1;
    long paid;

    District(int id, int customers, Rng rng) {
        this.id = id;
        name = rng.letters(6, 10);
        street = rng.letters(10, 20);
        for (int i = 1; i <= customers; i++) {
            Customer customer = new Customer(i, rng);
            this.customers.put(i, customer);
            byName.computeIfAbsent(customer.last, n -> new ArrayList<>()).add(customer);
        }
    }

    /** By name in six cases of ten, else by number. */
    Customer draw(Rng rng) {
        Customer any = customers.get(rng.skewed(127, customers.size()));
        if (rng.between(1, 10) > 6) {
            return any;
        }
        List<Customer> namesakes = byName.get(any.last);
        return namesakes.get(namesakes.size() / 2);
    }

    void add(Order order) {
        orders.put(order.id, order);
        waiting.put(order.id, order);
        order.customer.remember(order);
        while (orders.size() > KEPT && orders.firstEntry().getValue().delivered()) {
            orders.pollFirstEntry();
        }
    }
}

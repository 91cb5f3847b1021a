package orders;

import java.util.Map;
import java.util.TreeSet;

/** Does the transactions of one warehouse and shows each on a screen. */
final class Clerk {
    private static final int LOW_STOCK = 20;
    private static final int RECENT_ORDERS = 20;

    final Warehouse warehouse;
    private final Rng rng;

    Clerk(Warehouse warehouse, Rng rng) {
        this.warehouse = warehouse;
        this.rng = rng;
    }

    /** Does one transaction; the screen that it ends with. */
    String act(Kind kind) {
        switch (kind) {
            case NEW_ORDER: return newOrder();
            case PAYMENT: return payment();
            case ORDER_STATUS: return orderStatus();
            case DELIVERY: return delivery();
            case STOCK_LEVEL: return stockLevel();
            default: return customerReport();
        }
    }

    private District district() {
        return warehouse.districts[rng.between(0, warehouse.districts.length - 1)];
    }

    private Element screen(Kind kind, District district) {
        return new Element("screen").with("kind", kind.title).with("warehouse", warehouse.id)
            .with("district", district.id);
    }

    private static void who(Element screen, Customer customer) {
        screen.child("customer").with("id", customer.id).field("first", customer.first).field("last", customer.last)
            .field("phone", customer.phone).field("balance", Element.money(customer.balance));
    }

    private static void lines(Element parent, Order order) {
        for (Order.Line line : order.lines) {
            parent.child("line").with("item", line.item.id).with("quantity", line.quantity)
                .field("name", line.item.name).field("mark", line.mark).field("amount", Element.money(line.amount));
        }
    }

    private String newOrder() {
        District district = district();
        Customer customer = district.draw(rng);
        Order order = warehouse.order(district, customer, rng);
        Element screen = screen(Kind.NEW_ORDER, district);
        who(screen, customer);
        Element of = screen.child("order").with("id", order.id).with("date", order.date);
        lines(of, order);
        of.field("discount", customer.discountPercent + "%").field("total", Element.money(order.total));
        return screen.write();
    }

    private String payment() {
        District district = district();
        Customer customer = district.draw(rng);
        long amount = rng.between(100, 500_000);
        warehouse.pay(district, customer, amount, warehouse.name + "    " + district.name);
        Element screen = screen(Kind.PAYMENT, district);
        screen.child("warehouse").field("name", warehouse.name).field("street", warehouse.street);
        screen.child("district").field("name", district.name).field("street", district.street);
        who(screen, customer);
        screen.field("street", customer.street).field("city", customer.city)
            .field("amount", Element.money(amount)).field("data", customer.data.substring(0, 200));
        return screen.write();
    }

    private String orderStatus() {
        District district = district();
        Customer customer = district.draw(rng);
        Element screen = screen(Kind.ORDER_STATUS, district);
        who(screen, customer);
        Order last = customer.orders.peekLast();
        if (last != null) {
            Element of = screen.child("order").with("id", last.id).with("carrier", last.carrier);
            lines(of, last);
        }
        return screen.write();
    }

    private String delivery() {
        int carrier = rng.between(1, 10);
        Element screen = screen(Kind.DELIVERY, warehouse.districts[0]).with("carrier", carrier);
        for (District district : warehouse.districts) {
            do {
                Map.Entry<Integer, Order> oldest = district.waiting.pollFirstEntry();
                if (oldest == null) {
                    break;
                }
                warehouse.deliver(oldest.getValue(), carrier);
                screen.child("delivered").with("district", district.id).with("order", oldest.getKey());
            } while (district.waiting.size() > District.WAITING);
        }
        return screen.write();
    }

    private String stockLevel() {
        District district = district();
        TreeSet<Integer> low = new TreeSet<>();
        int from = district.nextOrder - RECENT_ORDERS;
        for (Order order : district.orders.tailMap(from, true).values()) {
            for (Order.Line line : order.lines) {
                if (warehouse.stock.get(line.item.id).quantity < LOW_STOCK) {
                    low.add(line.item.id);
                }
            }
        }
        Element screen = screen(Kind.STOCK_LEVEL, district).with("threshold", LOW_STOCK);
        screen.field("low", low.size());
        for (Integer item : low) {
            screen.child("item").with("id", item);
        }
        return screen.write();
    }

    private String customerReport() {
        District district = district();
        Customer customer = district.draw(rng);
        Element screen = screen(Kind.CUSTOMER_REPORT, district);
        who(screen, customer);
        for (History payment : customer.payments) {
            screen.child("payment").with("id", payment.id).with("date", payment.date)
                .field("amount", Element.money(payment.amount));
        }
        for (Order order : customer.orders) {
            Element of = screen.child("order").with("id", order.id).with("carrier", order.carrier);
            for (Order.Line line : order.lines) {
                of.child("line").with("item", line.item.id).with("delivered", line.delivered)
                    .field("amount", Element.money(line.amount));
            }
            of.field("total", Element.money(order.total));
        }
        return screen.write();
    }
}

package orders;

import java.util.ArrayList;
import java.util.List;

/** Something that is broken on purpose, to see that it is noticed. */
enum Fault {
    NONE, MONEY, STOCK, ORDERS, MEMORY, EXIT, HANG;

    /** Called in the window. */
    void strike() {
        if (this == EXIT) {
            Runtime.getRuntime().halt(9);
        }
        if (this == MEMORY) {
            List<long[]> kept = new ArrayList<>();
            while (true) {
                kept.add(new long[1 << 17]);
            }
        }
    }

    /** Called when the thread has stopped. */
    void breakBooks(Warehouse warehouse) {
        District district = warehouse.districts[0];
        switch (this) {
            case MONEY: district.paid++; break;
            case STOCK: warehouse.stock.get(1).quantity = -1; break;
            case ORDERS: district.orders.remove(district.nextOrder - 10); break;
            default: break;
        }
    }
}

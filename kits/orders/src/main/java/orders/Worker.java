package orders;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread of a warehouse in one point: makes the warehouse if it is not there yet, waits for the
 * window, and works through it by the clock. Nothing has to tell it when the measurement begins and ends,
 * so that it is measured rightly also when no other thread gets to run.
 */
final class Worker extends Thread {
    private final Instance instance;
    private final int index;
    private final int warehouses;
    private final CountDownLatch prepared;
    private final CountDownLatch go = new CountDownLatch(1);
    private Window window;
    private Fault fault = Fault.NONE;
    Tally tally;
    /** What did not add up afterwards; null: everything did. */
    String wrong;

    Worker(Instance instance, int index, int warehouses, CountDownLatch prepared) {
        super("warehouse-" + (index + 1));
        this.instance = instance;
        this.index = index;
        this.warehouses = warehouses;
        this.prepared = prepared;
    }

    void release(Window window, Fault fault) {
        this.window = window;
        this.fault = fault;
        go.countDown();
    }

    @Override
    public void run() {
        try {
            Warehouse warehouse = instance.warehouse(index);
            prepared.countDown();
            go.await();
            Rng rng = Rng.of(instance.stream, warehouse.id, 16L + warehouses);
            work(new Clerk(warehouse, rng), new Deck(instance.mix, rng));
            fault.breakBooks(warehouse);
            wrong = Books.wrong(warehouse);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Throwable e) {
            Main.die(e);
        }
    }

    private void work(Clerk clerk, Deck deck) {
        Window w = window;
        Tally t = new Tally(w.bins());
        tally = t;
        for (long now = System.nanoTime(); now < w.begin; now = System.nanoTime()) {
            LockSupport.parkNanos(w.begin - now);
        }
        long last = System.nanoTime();
        t.began = last;
        while (last < w.stop) {
            Kind kind = deck.deal();
            t.screens = t.screens * 31 + clerk.act(kind).hashCode();
            long now = System.nanoTime();
            t.all++;
            if (now >= w.start && now < w.end) {
                int k = kind.ordinal();
                long took = now - last;
                t.counts[k]++;
                t.totalNs[k] += took;
                if (took > t.maxNs[k]) {
                    t.maxNs[k] = took;
                }
                if (fault != Fault.NONE) {
                    fault.strike();
                }
            }
            int bin = (int) ((now - w.begin) / Tally.BIN_NS);
            if (bin < t.bins.length) {
                t.bins[bin]++;
            }
            last = now;
        }
        t.ended = last;
    }
}

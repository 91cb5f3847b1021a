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
    /** null: the next transaction begins when the last one is done. */
    private Rate rate;
    private Fault fault = Fault.NONE;
    Arrivals arrivals;
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

    void release(Window window, Rate rate, Fault fault) {
        this.window = window;
        this.rate = rate;
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
            Clerk clerk = new Clerk(warehouse, rng);
            Deck deck = new Deck(instance.mix, rng);
            tally = new Tally(window.bins());
            if (rate == null) {
                work(clerk, deck);
            } else {
                Rng gaps = Rng.of(instance.stream, warehouse.id, 1L << 32 | warehouses);
                arrivals = new Arrivals(window, rate, index, warehouses, gaps);
                tally.keepTimes(window, rate);
                serve(clerk, deck);
            }
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
        Tally t = tally;
        await(w.begin);
        long last = System.nanoTime();
        t.began = last;
        while (last < w.stop) {
            Kind kind = deck.deal();
            t.screens = t.screens * 31 + clerk.act(kind).hashCode();
            long now = System.nanoTime();
            done(kind, last, now);
            last = now;
        }
        t.ended = last;
    }

    /** Works on the requests in the order in which they are due, and sleeps while there is none. */
    private void serve(Clerk clerk, Deck deck) {
        Window w = window;
        Tally t = tally;
        await(w.begin);
        long now = System.nanoTime();
        t.began = now;
        boolean slept = false;
        while (now < w.stop) {
            arrivals.admit(now, slept);
            slept = arrivals.isEmpty();
            if (slept) {
                LockSupport.parkNanos(Math.min(arrivals.due(), w.stop) - now);
                now = System.nanoTime();
                continue;
            }
            long due = arrivals.take();
            Kind kind = deck.deal();
            t.screens = t.screens * 31 + clerk.act(kind).hashCode();
            now = System.nanoTime();
            done(kind, due, now);
            if (w.measures(due)) {
                t.times.add(now - due);
            }
            t.columns[(int) Math.min(t.columns.length - 1, (due - w.begin) / rate.columnNs)].add(now - due);
        }
        t.ended = now;
        t.unanswered = arrivals.unanswered();
    }

    /** Counts a transaction where it ended. */
    private void done(Kind kind, long from, long now) {
        tally.all++;
        if (window.measures(now)) {
            tally.count(kind, from, now);
            if (fault != Fault.NONE) {
                fault.strike();
            }
        }
        int bin = (int) ((now - window.begin) / Tally.BIN_NS);
        if (bin < tally.bins.length) {
            tally.bins[bin]++;
        }
    }

    private static void await(long begin) {
        for (long now = System.nanoTime(); now < begin; now = System.nanoTime()) {
            LockSupport.parkNanos(begin - now);
        }
    }
}

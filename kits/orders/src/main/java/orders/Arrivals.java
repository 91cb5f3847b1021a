package orders;

/**
 * The requests for one warehouse: when each is due, and the queue in which they wait. The thread of the
 * warehouse asks for what is due, so that a late thread cannot delay the schedule.
 */
final class Arrivals {
    /** A request that fell due while the thread slept, and was seen later than this, was seen late. */
    static final long LATE_NS = 1_000_000L;

    private final Window window;
    private final double gapNs;
    private final Rng rng;
    private final long[] queue;
    private int head;
    private int waiting;
    private double next;
    /** Requests due in the measurement; those of them that found the queue full; those seen late. */
    long offered;
    long refused;
    long late;

    /** @param rng the stream of the distances between requests */
    Arrivals(Window window, Rate rate, int index, int warehouses, Rng rng) {
        this.window = window;
        this.rng = rate.even ? null : rng;
        gapNs = 1e9 * warehouses / rate.perSecond;
        queue = new long[rate.queue];
        next = rate.even ? gapNs * index / warehouses : gap();
    }

    private double gap() {
        return rng == null ? gapNs : -Math.log(rng.unit()) * gapNs;
    }

    /** When the first request that is not in the queue yet is due. */
    long due() {
        return window.begin + (long) next;
    }

    /** Puts the requests that are due into the queue; one that finds it full is refused. */
    void admit(long now, boolean slept) {
        for (long due = due(); due <= now; due = due()) {
            int measured = window.measures(due) ? 1 : 0;
            offered += measured;
            if (waiting == queue.length) {
                refused += measured;
            } else {
                queue[(head + waiting++) % queue.length] = due;
            }
            if (slept && now - due > LATE_NS) {
                late += measured;
            }
            next += gap();
        }
    }

    boolean isEmpty() {
        return waiting == 0;
    }

    /** Takes the oldest request; returns when it was due. */
    long take() {
        long due = queue[head];
        head = (head + 1) % queue.length;
        waiting--;
        return due;
    }

    /** Empties the queue at the end; returns how many of the measured requests were in it. */
    long unanswered() {
        admit(window.stop, false);
        long left = 0;
        while (!isEmpty()) {
            left += window.measures(take()) ? 1 : 0;
        }
        return left;
    }
}

package orders;

/** The moments of a point, in nanoseconds of the clock that {@code System.nanoTime} and all instances share. */
final class Window {
    final long begin;
    final long start;
    final long end;
    final long stop;

    Window(long begin, long start, long end, long stop) {
        if (begin > start || start >= end || end > stop) {
            throw new IllegalArgumentException("a point begins, is measured and stops in this order");
        }
        this.begin = begin;
        this.start = start;
        this.end = end;
        this.stop = stop;
    }

    boolean measures(long at) {
        return start <= at && at < end;
    }

    int bins() {
        return (int) Math.min(100_000, (stop - begin) / Tally.BIN_NS + 1);
    }
}

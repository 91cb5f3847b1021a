package orders;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;

/** One instance of the benchmark: its warehouses, and a point at a time. */
final class Instance {
    final long seed;
    final long stream;
    final String mix;
    private final Item[] items;
    private final Warehouse[] warehouses;
    private Worker[] workers = new Worker[0];

    Instance(long seed, long stream, String mix, int most) {
        this.seed = seed;
        this.stream = stream;
        this.mix = mix;
        items = Item.list(seed, Item.COUNT);
        warehouses = new Warehouse[most];
        new Deck(mix, new Rng(0));
    }

    /** The warehouse, made by the thread that works on it. Each thread asks for its own alone. */
    Warehouse warehouse(int index) {
        if (warehouses[index] == null) {
            warehouses[index] = new Warehouse(index + 1, seed, items, Customer.PER_DISTRICT);
        }
        return warehouses[index];
    }

    /** Makes the warehouses and the threads of a point, which wait then. */
    void prepare(int count) throws InterruptedException {
        if (count < 1 || count > warehouses.length) {
            throw new IllegalArgumentException("1 to " + warehouses.length + " warehouses, not " + count);
        }
        CountDownLatch prepared = new CountDownLatch(count);
        workers = new Worker[count];
        for (int i = 0; i < count; i++) {
            workers[i] = new Worker(this, i, count, prepared);
            workers[i].start();
        }
        prepared.await();
    }

    /** Works through the window, at a rate or (null) without one; the report of the point. */
    Json point(Window window, Rate rate, Fault fault) throws InterruptedException {
        long[] before = collections();
        for (int i = 0; i < workers.length; i++) {
            workers[i].release(window, rate, i == 0 ? fault : Fault.NONE);
        }
        for (Worker worker : workers) {
            worker.join();
        }
        long[] after = collections();
        Runtime runtime = Runtime.getRuntime();
        Json json = new Json().put("warehouses", workers.length);
        json.put("collections", after[0] - before[0]).put("collection_ms", after[1] - before[1]);
        json.put("heap_used", runtime.totalMemory() - runtime.freeMemory()).put("heap_committed", runtime.totalMemory());
        if (rate != null) {
            json.put("response", response());
        }
        return report(json);
    }

    /** The response times of a point at a rate, summed over the threads. */
    private Json response() {
        Histogram times = new Histogram(Tally.TIMES_BITS);
        Histogram[] columns = new Histogram[workers[0].tally.columns.length];
        Arrays.setAll(columns, i -> new Histogram(Tally.COLUMN_BITS));
        long offered = 0;
        long refused = 0;
        long unanswered = 0;
        long late = 0;
        for (Worker worker : workers) {
            times.add(worker.tally.times);
            for (int i = 0; i < columns.length; i++) {
                columns[i].add(worker.tally.columns[i]);
            }
            offered += worker.arrivals.offered;
            refused += worker.arrivals.refused;
            unanswered += worker.tally.unanswered;
            late += worker.arrivals.late;
        }
        LongStream.Builder list = LongStream.builder();
        times.list(list);
        LongStream.Builder overTime = LongStream.builder();
        long[] longest = new long[columns.length];
        for (int i = 0; i < columns.length; i++) {
            columns[i].list(overTime, i);
            longest[i] = columns[i].max;
        }
        return new Json().put("offered", offered).put("refused", refused).put("unanswered", unanswered).put("late", late)
            .put("max_ns", times.max).put("times", list.build().toArray())
            .put("columns", overTime.build().toArray()).put("longest", longest);
    }

    private Json report(Json json) {
        long[] counts = new long[Kind.ALL.length];
        long[] totals = new long[Kind.ALL.length];
        long[] longest = new long[Kind.ALL.length];
        long[] bins = new long[workers[0].tally.bins.length];
        long[] threads = new long[workers.length];
        long began = Long.MIN_VALUE;
        long ended = Long.MAX_VALUE;
        long screens = 0;
        String wrong = null;
        for (int i = 0; i < workers.length; i++) {
            Tally t = workers[i].tally;
            for (int k = 0; k < counts.length; k++) {
                counts[k] += t.counts[k];
                totals[k] += t.totalNs[k];
                longest[k] = Math.max(longest[k], t.maxNs[k]);
            }
            for (int b = 0; b < bins.length; b++) {
                bins[b] += t.bins[b];
            }
            threads[i] = t.counted();
            began = Math.max(began, t.began);
            ended = Math.min(ended, t.ended);
            screens = screens * 31 + t.screens;
            wrong = wrong == null ? workers[i].wrong : wrong;
        }
        Json kinds = new Json();
        for (Kind kind : Kind.ALL) {
            int k = kind.ordinal();
            kinds.put(kind.title, new Json().put("count", counts[k]).put("total_ns", totals[k]).put("max_ns", longest[k]));
        }
        json.put("began_ns", began).put("ended_ns", ended).put("kinds", kinds);
        json.put("threads", threads).put("bins", bins).put("screens", Long.toHexString(screens));
        return wrong == null ? json : json.put("wrong", wrong);
    }

    /** Collections so far, and the milliseconds that they took. */
    private static long[] collections() {
        long[] sum = new long[2];
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum[0] += Math.max(0, bean.getCollectionCount());
            sum[1] += Math.max(0, bean.getCollectionTime());
        }
        return sum;
    }
}

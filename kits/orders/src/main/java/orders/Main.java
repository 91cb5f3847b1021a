package orders;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * An instance under the control of assay: words on standard input, a JSON object a line on standard
 * output. It ends when its input does.
 *
 * <pre>
 * prepare WAREHOUSES                      -> {"prepared":WAREHOUSES}
 * go BEGIN START END STOP [FAULT]         -> {"point":{...}}, when it is over
 * serve BEGIN START END STOP RATE even|exponential QUEUE COLUMN [FAULT]   -> the same, at a rate
 * </pre>
 */
public final class Main {
    private Main() {}

    /**
     * Starts an instance.
     *
     * @param args seed of the data, seed of the transactions, mix, most warehouses
     */
    public static void main(String[] args) {
        if (args.length != 4) {
            System.err.println("usage: orders SEED STREAM intended|effective WAREHOUSES (assay starts it: `assay run orders`)");
            Runtime.getRuntime().halt(2);
        }
        try {
            // Standard output is the line to assay; what else prints must not come between.
            PrintStream out = System.out;
            System.setOut(System.err);
            long seed = Long.parseLong(args[0]);
            Instance instance = new Instance(seed, Long.parseLong(args[1]), args[2], Integer.parseInt(args[3]));
            tell(out, hello());
            serve(instance, out);
        } catch (Throwable e) {
            die(e);
        }
    }

    private static Json hello() {
        String wrong = Conformance.wrong();
        Json json = new Json().put("processors", Runtime.getRuntime().availableProcessors())
            .put("now_ns", System.nanoTime()).put("pid", ProcessHandle.current().pid())
            .put("max_heap", Runtime.getRuntime().maxMemory());
        for (String name : new String[] {"java.version", "java.vm.name", "java.vm.vendor", "java.vm.version"}) {
            json.put(name, System.getProperty(name, ""));
        }
        StringBuilder collectors = new StringBuilder();
        for (var bean : java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()) {
            collectors.append(collectors.length() == 0 ? "" : ", ").append(bean.getName());
        }
        json.put("collectors", collectors.toString());
        if (wrong != null) {
            json.put("wrong", wrong);
        }
        return new Json().put("hello", json);
    }

    private static void serve(Instance instance, PrintStream out) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.trim().split(" ");
            switch (words[0]) {
                case "prepare":
                    if (words.length > 2 && Fault.valueOf(words[2]) == Fault.HANG) {
                        Thread.sleep(Long.MAX_VALUE);
                    }
                    int warehouses = Integer.parseInt(words[1]);
                    instance.prepare(warehouses);
                    tell(out, new Json().put("prepared", warehouses));
                    break;
                case "go":
                case "serve":
                    Window window = new Window(Long.parseLong(words[1]), Long.parseLong(words[2]),
                        Long.parseLong(words[3]), Long.parseLong(words[4]));
                    boolean closed = words[0].equals("go");
                    Rate rate = closed ? null : new Rate(Double.parseDouble(words[5]), words[6].equals("even"),
                        Integer.parseInt(words[7]), Long.parseLong(words[8]));
                    int last = closed ? 5 : 9;
                    Fault fault = words.length > last ? Fault.valueOf(words[last]) : Fault.NONE;
                    tell(out, new Json().put("point", instance.point(window, rate, fault)));
                    break;
                default:
                    throw new IllegalArgumentException("no such word: " + line);
            }
        }
    }

    private static void tell(PrintStream out, Json json) {
        out.println(json);
        out.flush();
        if (out.checkError()) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Says why in the virtual machine's own words, and ends at once: a thread less is another benchmark. */
    static void die(Throwable e) {
        System.err.println(e);
        if (!(e instanceof OutOfMemoryError)) {
            e.printStackTrace();
        }
        System.err.flush();
        Runtime.getRuntime().halt(e instanceof OutOfMemoryError ? 3 : 1);
    }
}

package orders;

/** Writes one JSON object on a line. */
final class Json {
    private final StringBuilder out = new StringBuilder("{");

    private Json name(String name) {
        if (out.length() > 1) {
            out.append(',');
        }
        quote(name);
        out.append(':');
        return this;
    }

    Json put(String name, long value) {
        name(name).out.append(value);
        return this;
    }

    Json put(String name, String value) {
        name(name).quote(value);
        return this;
    }

    Json put(String name, Json value) {
        name(name).out.append(value);
        return this;
    }

    Json put(String name, long[] values) {
        name(name).out.append('[');
        for (int i = 0; i < values.length; i++) {
            out.append(i == 0 ? "" : ",").append(values[i]);
        }
        out.append(']');
        return this;
    }

    private void quote(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    @Override
    public String toString() {
        return out + "}";
    }
}

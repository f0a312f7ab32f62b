package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Sums over the intervals of the ledger. */
public interface UsageSumReader {
    /** Dimension by which sums are grouped. */
    enum Dimension {
        /** Namespace of the holder. */
        NAMESPACE("namespace", piece -> piece.holding().holder().namespace()),
        /** Short model of the GPU. */
        MODEL("model", piece -> piece.holding().device().shortModel()),
        /** Quality of the interval. */
        QUALITY("quality", UsagePiece::quality),
        /** Node of the device. */
        NODE("node", UsagePiece::node),
        /** Pod of the holder. */
        POD("pod", piece -> piece.holding().holder().pod()),
        /** Kubernetes resource. */
        RESOURCE("resource", piece -> piece.holding().holder().resource()),
        /** MIG profile; empty for a whole GPU. */
        MIG_PROFILE("migProfile", piece -> piece.holding().device().migProfile()),
        /** Controlling owner of the pod, kind and name. */
        OWNER("owner", piece -> piece.attributes().owner()),
        /** Product of the GPU. */
        PRODUCT("product", piece -> piece.attributes().product());

        private final String text;
        private final Function<UsagePiece, String> value;

        Dimension(String text, Function<UsagePiece, String> value) {
            this.text = text;
            this.value = value;
        }

        /** Name in requests and answers. */
        public String text() {
            return text;
        }

        String of(UsagePiece piece) {
            return value.apply(piece);
        }

        /** Dimension by its name. */
        public static Optional<Dimension> named(String text) {
            return Arrays.stream(values()).filter(one -> one.text.equals(text)).findFirst();
        }
    }

    /**
     * A window of time, and what its sums are grouped by.
     *
     * @param labels keys of labels that they are grouped by, too
     */
    record Query(Instant from, Instant to, List<Dimension> groupBy, List<String> labels) {
        /** Sums that an answer may have: each takes about a KiB while it is made, and a reader must not exhaust the heap. */
        static final int MAX_SUMS = 50_000;

        private static final String LABEL = "label:";

        /** Copies. */
        public Query {
            groupBy = List.copyOf(groupBy);
            labels = List.copyOf(labels);
        }

        /** Grouped by no label. */
        public Query(Instant from, Instant to, List<Dimension> groupBy) {
            this(from, to, groupBy, List.of());
        }

        /** Names of the groups in requests and answers: dimensions, then labels as {@code label:<key>}. */
        public List<String> names() {
            return Stream.concat(
                            groupBy.stream().map(Dimension::text),
                            labels.stream().map(key -> LABEL + key))
                    .toList();
        }

        /** Key of the label that a name of a group means; empty for a dimension. */
        public static Optional<String> label(String name) {
            return name.startsWith(LABEL) ? Optional.of(name.substring(LABEL.length())) : Optional.empty();
        }

        /** Values of a group by their names. */
        Map<String, String> group(Function<Dimension, String> value, Map<String, String> labelValues) {
            return named(values(value, labelValues));
        }

        /** Values of a group, in the order of {@link #names}. */
        List<String> values(Function<Dimension, String> value, Map<String, String> labelValues) {
            var values = new String[groupBy.size() + labels.size()];
            for (int i = 0; i < groupBy.size(); i++) {
                values[i] = value.apply(groupBy.get(i));
            }
            for (int i = 0; i < labels.size(); i++) {
                values[groupBy.size() + i] = labelValues.getOrDefault(labels.get(i), "");
            }
            return List.of(values);
        }

        /** The values by their names. */
        Map<String, String> named(List<String> values) {
            Map<String, String> group = new LinkedHashMap<>();
            List<String> names = names();
            for (int i = 0; i < names.size(); i++) {
                group.put(names.get(i), values.get(i));
            }
            return group;
        }

        /** Refuses more sums than an answer may have. */
        void admit(int sums) {
            if (sums > MAX_SUMS) {
                throw new IllegalArgumentException("more than " + MAX_SUMS + " sums by " + String.join(",", names())
                        + ": choose a shorter window or fewer groups");
            }
        }

        /** The same groups in another window. */
        Query within(Instant newFrom, Instant newTo) {
            return new Query(newFrom, newTo, groupBy, labels);
        }
    }

    /**
     * One sum.
     *
     * @param group values by the names of the groups
     * @param intervals number of intervals and adjustments in the sum
     */
    record UsageSum(Map<String, String> group, BigDecimal gpuSeconds, long intervals) {
        /** Order of sums in an answer. */
        static final Comparator<UsageSum> BY_GROUP =
                Comparator.comparing(sum -> String.join("\n", sum.group().values()));

        /** True for idle time of which nothing is left, and to which nothing was added. */
        boolean isNothing() {
            return intervals == 0 && gpuSeconds.signum() == 0;
        }
    }

    /**
     * Sums of the time within a window, of intervals that are still open too. Fails with {@link IllegalArgumentException}
     * for a window that begins before what is kept and for too many sums, with {@link IOException} until the log is read.
     */
    List<UsageSum> sums(Query query) throws IOException;
}

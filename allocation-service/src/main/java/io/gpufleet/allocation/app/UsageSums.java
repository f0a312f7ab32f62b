package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Sums over the intervals of the ledger. */
public interface UsageSums {
    /** What sums are grouped by. */
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
        MIG_PROFILE("migProfile", piece -> piece.holding().device().migProfile());

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

    /** A window of time, and what its sums are grouped by. */
    record Query(Instant from, Instant to, List<Dimension> groupBy) {
        /** Copies. */
        public Query {
            groupBy = List.copyOf(groupBy);
        }
    }

    /**
     * One sum.
     *
     * @param group values of the dimensions by their names
     * @param intervals number of intervals and adjustments in the sum
     */
    record UsageSum(Map<String, String> group, BigDecimal gpuSeconds, long intervals) {}

    /**
     * Sums of the time within a window, of intervals that are still open too. Fails with {@link IllegalArgumentException}
     * for a window that begins before what is kept, with {@link IOException} until the log is read.
     */
    List<UsageSum> sums(Query query) throws IOException;
}

package io.gpufleet.nodedaemon.simulated.recording;

import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;

/**
 * One line of a recording.
 *
 * @param at since its begin, by the monotonic clock
 * @param kind what was asked for
 * @param content the answer, as it stands in the file
 */
record Entry(Duration at, Kind kind, Object content) {
    /** What a source says; the word in the file is the lower-case name. */
    enum Kind {
        /** Its devices. */
        LOOK,
        /** How they are. */
        VITALS,
        /** Something between two looks. */
        SIGN;

        private String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    static Entry of(Duration at, Look look) {
        return new Entry(at, Kind.LOOK, ValueText.write(look));
    }

    static Entry of(Duration at, List<Vitals> vitals) {
        return new Entry(at, Kind.VITALS, ValueText.write(vitals));
    }

    static Entry of(Duration at, Sign sign) {
        return new Entry(at, Kind.SIGN, ValueText.write(sign));
    }

    String line() {
        return new JsonObject()
                .put("at", at.toMillis())
                .put(kind.word(), content)
                .encode();
    }

    /** Refuses what is no entry with some RuntimeException. */
    static Entry parse(String line) {
        var json = new JsonObject(line);
        for (Kind kind : Kind.values()) {
            if (json.containsKey(kind.word())) {
                return new Entry(Duration.ofMillis(json.getLong("at")), kind, json.getValue(kind.word()));
            }
        }
        throw new IllegalArgumentException("neither look, vitals nor sign");
    }

    Look look() {
        return ValueText.read(Look.class, content);
    }

    List<Vitals> vitals() {
        return ((JsonArray) content)
                .stream().map(each -> ValueText.read(Vitals.class, each)).toList();
    }

    Sign sign() {
        return ValueText.read(Sign.class, content);
    }
}

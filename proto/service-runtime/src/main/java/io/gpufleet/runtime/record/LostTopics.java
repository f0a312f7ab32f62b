package io.gpufleet.runtime.record;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changelog and the outputs of a service, of which one was deleted and made anew: nothing brings back what was on it. A
 * changelog is a reason of readiness until somebody restarts the process, who has read it then.
 */
public final class LostTopics {
    private static final Logger LOG = LoggerFactory.getLogger(LostTopics.class);

    private final String changelog;
    private final Set<String> outputs;
    private final Set<String> lines = new CopyOnWriteArraySet<>();
    private Map<String, String> known = Map.of();

    /** Topics by their full names. */
    public LostTopics(String changelog, Set<String> outputs) {
        this.changelog = changelog;
        this.outputs = Set.copyOf(outputs);
    }

    /** A line when the changelog was lost while this process runs, or just before it. */
    public Set<String> lines() {
        return lines;
    }

    /**
     * Compares with what was there before. Another Kafka has other topics, about which nothing is lost here. An output is a line
     * in the log only: both replicas would be unready, and a restart brings nothing of it back.
     *
     * @param ids of the topics of today, by full name
     * @param emptied asked at the start of a process: whether the changelog was never written though an output was
     */
    public void check(Map<String, String> ids, boolean anotherKafka, BooleanSupplier emptied) {
        if (known.isEmpty() ? emptied.getAsBoolean() : !anotherKafka && recreated(changelog, ids)) {
            String line = "own changelog " + changelog
                    + " was deleted and made anew: states and offsets are lost, the inputs are"
                    + " read from their beginning. Commands of operators that are not on the inputs any more have to be"
                    + " given again; to confirm, restart this service";
            lines.add(line);
            LOG.atError().addKeyValue("reason", line).log("the changelog was lost");
        }
        if (!known.isEmpty() && !anotherKafka) {
            outputs.stream()
                    .filter(name -> recreated(name, ids))
                    .forEach(
                            name -> LOG.atError()
                                    .addKeyValue("topic", name)
                                    .log(
                                            "an output was deleted and made anew: what was published there is missing until it changes"));
        }
        known = Map.copyOf(ids);
    }

    private boolean recreated(String name, Map<String, String> ids) {
        return !ids.getOrDefault(name, "").equals(known.get(name));
    }
}

package io.gpufleet.runtime.consistency;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Outbound;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.States;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.EventId;
import io.gpufleet.wire.Topic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/** States and outputs that follow from the log: every event once, in the order of its writer. No engine takes part. */
final class ReferenceFold<S> implements States<S> {
    private final TestedProjection<S> tested;
    private final Projection<S> projection;
    private final Map<String, S> states = new HashMap<>();
    private final Map<String, EventId> newest = new HashMap<>();
    private final Map<Topic, Map<String, List<Message>>> outputs = new HashMap<>();

    private ReferenceFold(TestedProjection<S> tested) {
        this.tested = tested;
        this.projection = tested.create();
    }

    /** Folds what the inputs hold now, for some nodes. */
    static <S> ReferenceFold<S> of(TestedProjection<S> tested, ConsistencyBus bus, EventLoad load) {
        var fold = new ReferenceFold<>(tested);
        List<DecodedRecord.Event> all = fold.projection.spec().inputs().stream()
                .flatMap(topic -> bus.events(topic).stream())
                .filter(event -> load.nodes().contains(event.envelope().key()))
                .toList();
        Predicate<DecodedRecord.Event> first =
                event -> load.isFirst(event.envelope().id());
        all.stream().filter(first).forEach(fold::apply);
        all.stream().filter(first.negate()).forEach(fold::apply);
        return fold;
    }

    private void apply(DecodedRecord.Event event) {
        String key = event.envelope().key();
        EventId id = event.envelope().id();
        String stream = key + " " + id.topic() + " " + event.envelope().source();
        EventId last = newest.get(stream);
        if (last != null && !later(id, last)) {
            return;
        }
        newest.put(stream, id);
        var input = new Inbound.Event(event.envelope(), event.payload(), event.appendedAt(), false);
        Effects<S> effects = projection.on(this, input, event.appendedAt());
        states.keySet().removeAll(effects.forgotten());
        states.putAll(effects.states());
        effects.outputs().forEach(this::add);
    }

    private static boolean later(EventId id, EventId than) {
        return id.epoch() > than.epoch() || id.epoch() == than.epoch() && id.sequence() > than.sequence();
    }

    private void add(Outbound output) {
        if (output instanceof Outbound.Event event) {
            outputs.computeIfAbsent(event.topic(), _ -> new HashMap<>())
                    .computeIfAbsent(event.key(), _ -> new ArrayList<>())
                    .add(tested.withoutTimes(event.payload()));
        }
    }

    /** The outputs of a topic by key, in order, without times. */
    Map<String, List<Message>> outputs(Topic topic) {
        return new TreeMap<>(outputs.getOrDefault(topic, Map.of()));
    }

    /** The states by key as messages, without times. */
    Map<String, Message> messages() {
        var messages = new TreeMap<String, Message>();
        states.forEach((key, state) -> messages.put(key, tested.withoutTimes(projection.write(key, state))));
        return messages;
    }

    @Override
    public Optional<S> get(String key) {
        return Optional.ofNullable(states.get(key));
    }

    @Override
    public int size() {
        return states.size();
    }

    @Override
    public void forEach(BiConsumer<String, S> each) {
        states.forEach(each);
    }
}

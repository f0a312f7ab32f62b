package io.gpufleet.runtime.simulation;

import com.google.protobuf.Message;
import io.gpufleet.runtime.projection.Effects;
import io.gpufleet.runtime.projection.Inbound;
import io.gpufleet.runtime.projection.Progress;
import io.gpufleet.runtime.projection.Projection;
import io.gpufleet.runtime.projection.ProjectionSpec;
import io.gpufleet.runtime.projection.States;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A projection that keeps what it was asked since the last commit. */
public final class RecordedProjection<S> implements Projection<S> {
    private final Projection<S> projection;
    private final Consumer<States<S>> restarted;
    private final List<Call<S>> calls = new ArrayList<>();

    /**
     * One call.
     *
     * @param input the input; empty for a tick
     * @param effects what the projection answered
     */
    public record Call<S>(String key, Optional<Inbound> input, Instant now, Effects<S> effects) {}

    /**
     * Records the calls to a projection.
     *
     * @param restarted is given the states with which a term begins
     */
    public RecordedProjection(Projection<S> projection, Consumer<States<S>> restarted) {
        this.projection = projection;
        this.restarted = restarted;
    }

    /** The calls since the last time, in order. */
    public List<Call<S>> takeCalls() {
        List<Call<S>> taken = List.copyOf(calls);
        calls.clear();
        return taken;
    }

    @Override
    public ProjectionSpec spec() {
        return projection.spec();
    }

    @Override
    public S read(String key, Message state) {
        return projection.read(key, state);
    }

    @Override
    public Message migrate(Message state, int version) {
        return projection.migrate(state, version);
    }

    @Override
    public Message write(String key, S state) {
        return projection.write(key, state);
    }

    @Override
    public Effects<S> on(States<S> states, Inbound input, Instant now) {
        Effects<S> effects = projection.on(states, input, now);
        calls.add(new Call<>(input.key(), Optional.of(input), now, effects));
        return effects;
    }

    @Override
    public Duration linger() {
        return projection.linger();
    }

    @Override
    public Instant wakeAt(S state) {
        return projection.wakeAt(state);
    }

    @Override
    public Collection<String> due(States<S> states, Progress progress, Instant now) {
        return projection.due(states, progress, now);
    }

    @Override
    public Effects<S> tick(String key, States<S> states, Instant now) {
        Effects<S> effects = projection.tick(key, states, now);
        calls.add(new Call<>(key, Optional.empty(), now, effects));
        return effects;
    }

    @Override
    public void restarted(States<S> states, Instant now) {
        restarted.accept(states);
        projection.restarted(states, now);
    }
}

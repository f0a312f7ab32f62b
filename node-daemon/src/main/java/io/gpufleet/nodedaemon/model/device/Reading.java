package io.gpufleet.nodedaemon.model.device;

import java.util.Optional;
import java.util.function.Function;

/** A value that was read, or the reason why it could not be read; a failed read is never an empty value. */
public sealed interface Reading<T> {
    /** The value that was read. */
    record Known<T>(T value) implements Reading<T> {}

    /** The reason why the value could not be read, one line, for example {@code NOT_SUPPORTED}. */
    record Unavailable<T>(String reason) implements Reading<T> {}

    /** Returns the value; empty when unavailable. */
    default Optional<T> asOptional() {
        return switch (this) {
            case Known<T>(T value) -> Optional.of(value);
            case Unavailable<T> _ -> Optional.empty();
        };
    }

    /** Returns the value, or another when unavailable. */
    default T orElse(T other) {
        return switch (this) {
            case Known<T>(T value) -> value;
            case Unavailable<T> _ -> other;
        };
    }

    /** Returns the reading of a function of the value; an unavailable reading keeps its reason. */
    default <R> Reading<R> map(Function<T, R> function) {
        return switch (this) {
            case Known<T>(T value) -> new Known<>(function.apply(value));
            case Unavailable<T>(String reason) -> new Unavailable<>(reason);
        };
    }
}

package io.gpufleet.nodedaemon.model;

import java.util.Optional;
import java.util.function.Function;

/** A value that was read, or the reason why it could not be: "could not look" is never "nothing there". */
public sealed interface Reading<T> {
    /** What was read. */
    record Known<T>(T value) implements Reading<T> {}

    /** Why nothing was read, one line for people, for example {@code NOT_SUPPORTED}. */
    record Unavailable<T>(String reason) implements Reading<T> {}

    /** The value where there is one. */
    default Optional<T> asOptional() {
        return switch (this) {
            case Known<T>(T value) -> Optional.of(value);
            case Unavailable<T> _ -> Optional.empty();
        };
    }

    /** The value, or another. */
    default T orElse(T other) {
        return switch (this) {
            case Known<T>(T value) -> value;
            case Unavailable<T> _ -> other;
        };
    }

    /** The same reading of something computed from the value. */
    default <R> Reading<R> map(Function<T, R> function) {
        return switch (this) {
            case Known<T>(T value) -> new Known<>(function.apply(value));
            case Unavailable<T>(String reason) -> new Unavailable<>(reason);
        };
    }
}

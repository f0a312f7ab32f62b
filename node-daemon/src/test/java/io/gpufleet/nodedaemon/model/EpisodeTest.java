package io.gpufleet.nodedaemon.model;

import static io.gpufleet.nodedaemon.model.Some.POLICY;
import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.xid;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The transitions as methods, the transitions as the book makes them, and the diagram say the same. */
class EpisodeTest {
    private static final FaultKey KEY = new FaultKey(Some.uuid(0), new FaultCode.Xid(79));
    private static final HealthBook EMPTY = HealthBook.inheriting(POLICY, List.of(), second(0));
    private static final String OUTSIDE = "[*]";

    private static HealthBook seen(HealthBook book, FaultOrigin origin) {
        return book.observe(xid(0, 79, origin), Some.SUBJECT, second(10)).next();
    }

    private static HealthBook watched() {
        return seen(EMPTY, FaultOrigin.NVML_EVENT);
    }

    private static HealthBook unwatched() {
        return seen(EMPTY, FaultOrigin.KERNEL_LOG);
    }

    private static HealthBook gone() {
        return watched().causeGone(KEY, "reset", second(20));
    }

    /** Everything that can happen to a book, from a state in which the fault is. */
    private static Stream<UnaryOperator<HealthBook>> happenings() {
        return Stream.of(
                book -> seen(book, FaultOrigin.NVML_EVENT),
                book -> seen(book, FaultOrigin.KERNEL_LOG),
                book -> book.causeGone(KEY, "reset", second(30)),
                book -> book.polled(SomeVitals.well(0).now(), second(30)),
                book -> book.polled(
                        SomeVitals.well(0).asks(RecoveryAction.GPU_RESET).now(), second(30)),
                book -> book.driverLoadedAnew(Set.of(Some.uuid(0)), second(15).nanos(), second(30)),
                book -> HealthBook.inheriting(POLICY, book.open(), second(30)),
                book -> book.settle(second(1000)).next(),
                book -> book.afterBoot("boot-2").next());
    }

    @Test
    void everyTransitionIsMadeAndNoOther() {
        Set<String> made = new TreeSet<>();
        for (HealthBook from : List.of(EMPTY, watched(), unwatched(), gone())) {
            happenings().forEach(happening -> {
                String before = state(from);
                String after = state(happening.apply(from));
                if (!before.equals(after)) {
                    made.add(before + " --> " + after);
                }
            });
        }

        Set<String> drawn = arrows().map(arrow -> arrow.from() + " --> " + arrow.to())
                .filter(arrow -> !arrow.equals("Gone --> Gone"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(made).isEqualTo(drawn);
    }

    @Test
    void dwellStartsOverWithANewProcess() {
        assertThat(HealthBook.inheriting(POLICY, gone().open(), second(30)).nextDueNanos())
                .hasValue(second(330).nanos());
    }

    @Test
    void diagramIsMadeFromTheMachine() throws IOException {
        String drawn = "```mermaid\nstateDiagram-v2\n"
                + arrows().map(arrow -> "    " + arrow.from() + " --> " + arrow.to() + " : " + arrow.label() + "\n")
                        .collect(Collectors.joining())
                + "```";

        assertThat(Files.readString(Path.of("fault-episode.md")))
                .as("fault-episode.md holds the diagram of the machine; it should hold:\n%s", drawn)
                .contains(drawn);
    }

    private static String state(HealthBook book) {
        return book.find(KEY)
                .map(fault -> fault.cause().getClass().getSimpleName())
                .orElse(OUTSIDE);
    }

    private record Arrow(String from, String label, String to) {}

    private static Stream<Arrow> arrows() {
        return Stream.concat(
                Stream.of(
                        new Arrow(OUTSIDE, "seen by a source", "There"),
                        new Arrow(OUTSIDE, "seen in the kernel log", "Unwatched")),
                Arrays.stream(Cause.class.getPermittedSubclasses())
                        .flatMap(type -> Arrays.stream(type.getDeclaredMethods())
                                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                                .filter(method -> Cause.class.isAssignableFrom(method.getReturnType())
                                        || method.getReturnType() == Cause.Closed.class)
                                .map(method -> new Arrow(
                                        type.getSimpleName(),
                                        method.getName(),
                                        method.getReturnType() == Cause.Closed.class
                                                ? OUTSIDE
                                                : method.getReturnType().getSimpleName()))
                                .sorted(Comparator.comparing(Arrow::label))));
    }
}

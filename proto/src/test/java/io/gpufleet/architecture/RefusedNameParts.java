package io.gpufleet.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Refuses metaphors as camel-case parts of type names. Parts are compared as a whole: {@code FaultDesk} is refused,
 * {@code SignalHandler} and {@code Keyword} are not.
 */
final class RefusedNameParts extends ArchCondition<JavaClass> {
    private static final Set<String> REFUSED = Set.of(
            "Aim",
            "Beside",
            "Book",
            "Course",
            "Desk",
            "Doings",
            "Door",
            "Folder",
            "Hand",
            "Hands",
            "House",
            "Hush",
            "Look",
            "Looks",
            "Manners",
            "Mark",
            "Marks",
            "Room",
            "Setback",
            "Sign",
            "Signs",
            "Standing",
            "Strangers",
            "Tale",
            "Teller",
            "Turn",
            "Word",
            "Words",
            "Yielding");
    private static final Pattern PART_BOUNDARY = Pattern.compile("_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])");

    RefusedNameParts() {
        super("have a name without refused parts");
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        refusedPart(type.getSimpleName())
                .ifPresent(part -> events.add(SimpleConditionEvent.violated(
                        type,
                        "type " + type.getName() + " has '" + part + "' in its name: rename it after what it holds or"
                                + " does, in terms that the documentation of Kubernetes, Kafka or NVML uses (for example"
                                + " Handler for Desk, State for Book, Server for Door) in "
                                + type.getSourceCodeLocation())));
    }

    static Optional<String> refusedPart(String simpleName) {
        return Arrays.stream(PART_BOUNDARY.split(simpleName))
                .filter(REFUSED::contains)
                .findFirst();
    }
}

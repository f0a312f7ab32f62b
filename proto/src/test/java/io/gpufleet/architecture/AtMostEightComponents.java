package io.gpufleet.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;

/** Refuses records with more than eight components. */
final class AtMostEightComponents extends ArchCondition<JavaClass> {
    private static final int LIMIT = 8;

    AtMostEightComponents() {
        super("have at most " + LIMIT + " components");
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        long components = type.getFields().stream()
                .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                .count();
        if (components > LIMIT) {
            events.add(SimpleConditionEvent.violated(
                    type,
                    "record " + type.getName() + " has " + components
                            + " components: move those that have a common name"
                            + " in Kubernetes, Kafka or NVML into a record of that name (for example PciAddress, Memory,"
                            + " EventTime) in " + type.getSourceCodeLocation()));
        }
    }
}

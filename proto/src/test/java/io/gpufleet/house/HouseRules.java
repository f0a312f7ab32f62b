package io.gpufleet.house;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.time.Clock;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rules every module of this house is built by. */
public final class HouseRules {
    private HouseRules() {}

    @ArchTest
    static final ArchRule modelKnowsOnlyItself = classes()
            .that()
            .resideInAPackage("io.gpufleet..model..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.gpufleet..model..",
                    "java.lang..",
                    "java.util..",
                    "java.time..",
                    "java.math..",
                    "org.jspecify..")
            .because("the model is nouns and arithmetic; what needs a library belongs into an adapter")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule modelAndAppAreToldTheTime = noClasses()
            .that()
            .resideInAnyPackage("..model..", "..app..")
            .should()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(Clock.class, "systemUTC")
            .orShould()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(System.class, "getenv")
            .orShould()
            .callMethod(UUID.class, "randomUUID")
            .because("time and chance are told, so that a test can tell them; take a Clock or a Supplier")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule modelAndAppNeverAwait = noClasses()
            .that()
            .resideInAnyPackage("..model..", "..app..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("io.vertx.core.Future")
            .because("waiting is for adapters on virtual threads; model and app speak through ports")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nobodySleeps = noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", java.time.Duration.class)
            .because("a sleep hides the condition that is waited for; use a timer, a queue or a watch");

    @ArchTest
    static final ArchRule appSpeaksThroughPorts = noClasses()
            .that()
            .resideInAPackage("..app..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.vertx.kafka..",
                    "org.apache.kafka..",
                    "io.vertx.grpc..",
                    "io.fabric8..",
                    "jnr..",
                    "com.google.protobuf..",
                    "com.fasterxml.jackson..",
                    "io.gpufleet.wire..",
                    "io.gpufleet.proto..")
            .because("the application room declares ports; adapters implement them")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nativeCodeStaysInItsRoom = noClasses()
            .that()
            .resideOutsideOfPackage("..nvml.binding..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jnr..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule kubernetesStaysInItsRoom = noClasses()
            .that()
            .resideOutsideOfPackages("..kubernetes..", "io.gpufleet.compose..")
            .and()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.fabric8..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule theBusStaysInItsRoom = noClasses()
            .that()
            .resideOutsideOfPackages("..kafka..", "io.gpufleet.wire..", "io.gpufleet.proto..", "io.gpufleet.compose..")
            .and()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.gpufleet.wire..", "org.apache.kafka..", "io.vertx.kafka..")
            .because("only the .kafka rooms speak the bus contract; the rest has its own types")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule generatedMessagesStopAtTheAdapters = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "..kafka..",
                    "..grpc..",
                    "..deviceplugin..",
                    "..podresources..",
                    "io.gpufleet.wire..",
                    "io.gpufleet.proto..",
                    "io.gpufleet.compose..")
            .and()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.gpufleet.proto..", "com.google.protobuf..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule noPackageCycles = slices().matching("io.gpufleet.(**)")
            .should()
            .beFreeOfCycles()
            .because("a ring costs nothing today and everything in a year")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nobodyDependsOnMain = noClasses()
            .that()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .haveSimpleNameEndingWith("Main")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule adaptersMeetOnlyInMain = slices().assignedFrom(new Adapters())
            .namingSlices("adapter $1")
            .should()
            .notDependOnEachOther()
            .allowEmptyShould(true);

    /** Every room of a program but the inner ones: a room that is new is an adapter until it is named here. */
    private static final class Adapters implements SliceAssignment {
        private static final Set<String> INNER = Set.of("model", "app", "config");
        private static final Pattern ROOM =
                Pattern.compile("io\\.gpufleet\\.(?:nodedaemon|inventory|health|allocation)\\.(\\w+)(?:\\..*)?");

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass one) {
            Matcher room = ROOM.matcher(one.getPackageName());
            return room.matches() && !INNER.contains(room.group(1))
                    ? SliceIdentifier.of(room.group(1))
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "adapters";
        }
    }
}

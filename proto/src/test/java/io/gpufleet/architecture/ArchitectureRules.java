package io.gpufleet.architecture;

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

/** Architecture rules of every module. */
public final class ArchitectureRules {
    private ArchitectureRules() {}

    @ArchTest
    static final ArchRule modelDependsOnlyOnItself = classes()
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
            .because("the model uses the JDK only; code that needs a library belongs into an adapter package")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule modelAndAppTakeTimeAndRandomnessAsParameters = noClasses()
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
            .because("time and randomness are parameters, so that a test can set them; take a Clock or a Supplier")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule modelAndAppNeverAwait = noClasses()
            .that()
            .resideInAnyPackage("..model..", "..app..")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("io.vertx.core.Future")
            .because("only adapters wait, on virtual threads; model and app use ports")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule noThreadSleep = noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", java.time.Duration.class)
            .because("a sleep hides the condition to wait for; use a timer, a queue or a watch");

    @ArchTest
    static final ArchRule appDependsOnPortsOnly = noClasses()
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
            .because("the app package declares ports; adapters implement them")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nativeCodeOnlyInBindingPackage = noClasses()
            .that()
            .resideOutsideOfPackage("..nvml.binding..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jnr..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule kubernetesClientOnlyInKubernetesPackages = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "..kubernetes..", "io.gpufleet.cli..", "io.gpufleet.bench..", "io.gpufleet.testbed..")
            .and()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.fabric8..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule kafkaOnlyInKafkaPackages = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "..kafka..",
                    "io.gpufleet.wire..",
                    "io.gpufleet.runtime..",
                    "io.gpufleet.proto..",
                    "io.gpufleet.cli..",
                    "io.gpufleet.bench..",
                    "io.gpufleet.testbed..")
            .and()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.gpufleet.wire..", "org.apache.kafka..", "io.vertx.kafka..")
            .because("only the kafka packages use the bus contract; other packages have their own types")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule kafkaClientsAreCreatedByKafkaClients = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.gpufleet.wire..", "io.gpufleet.cli..", "io.gpufleet.bench..", "io.gpufleet.testbed..")
            .should()
            .callConstructor(
                    "org.apache.kafka.clients.consumer.KafkaConsumer",
                    "java.util.Properties",
                    "org.apache.kafka.common.serialization.Deserializer",
                    "org.apache.kafka.common.serialization.Deserializer")
            .orShould()
            .callConstructor(
                    "org.apache.kafka.clients.producer.KafkaProducer",
                    "java.util.Properties",
                    "org.apache.kafka.common.serialization.Serializer",
                    "org.apache.kafka.common.serialization.Serializer")
            .orShould()
            .callMethod("org.apache.kafka.clients.admin.Admin", "create", "java.util.Properties")
            .because("a client that waits by a clock that was set back must be replaced: proto/decisions/0006")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule daemonIsWithoutServiceRuntime = noClasses()
            .that()
            .resideInAPackage("io.gpufleet.nodedaemon..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.gpufleet.runtime..")
            .because("service-runtime brings the engine and a Kubernetes client, which no node needs")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule generatedMessagesOnlyInAdapters = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "..kafka..",
                    "..grpc..",
                    "..deviceplugin..",
                    "..podresources..",
                    "io.gpufleet.wire..",
                    "io.gpufleet.runtime..",
                    "io.gpufleet.proto..",
                    "io.gpufleet.cli..",
                    "io.gpufleet.bench..",
                    "io.gpufleet.testbed..")
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
            .because(
                    "package cycles are refused from the first commit; move the shared type down or invert one dependency")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nothingDependsOnMain = noClasses()
            .that()
            .haveSimpleNameNotEndingWith("Main")
            .should()
            .dependOnClassesThat()
            .haveSimpleNameEndingWith("Main")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule adaptersDoNotDependOnEachOther = slices().assignedFrom(new Adapters())
            .namingSlices("adapter $1")
            .should()
            .notDependOnEachOther()
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule typeNamesUseTheTermsOfTheField = classes()
            .that()
            .resideOutsideOfPackage("io.gpufleet.proto..")
            .should(new RefusedNameParts())
            .because("type names use the terms of Kubernetes, Kafka and NVML; proto/decisions/0002 lists replacements");

    @ArchTest
    static final ArchRule recordsHaveAtMostEightComponents = classes()
            .that()
            .areRecords()
            .should(new AtMostEightComponents())
            .because("a caller cannot tell nine constructor arguments apart")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule packagesHaveAtMostTwentyFiveFiles = classes()
            .that()
            .resideOutsideOfPackage("io.gpufleet.proto..")
            .should(new AtMostTwentyFiveFiles())
            .because("a reader cannot keep more in view")
            .allowEmptyShould(true);

    /** Every package of a program except the inner ones. A new package is an adapter until it is listed here. */
    private static final class Adapters implements SliceAssignment {
        private static final Set<String> INNER_PACKAGES = Set.of("model", "app", "config");
        private static final Pattern SERVICE_PACKAGE =
                Pattern.compile("io\\.gpufleet\\.(?:nodedaemon|inventory|health|allocation)\\.(\\w+)(?:\\..*)?");

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass one) {
            Matcher matcher = SERVICE_PACKAGE.matcher(one.getPackageName());
            return matcher.matches() && !INNER_PACKAGES.contains(matcher.group(1))
                    ? SliceIdentifier.of(matcher.group(1))
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "adapters";
        }
    }
}

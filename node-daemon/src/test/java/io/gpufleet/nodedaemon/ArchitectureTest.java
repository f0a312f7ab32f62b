package io.gpufleet.nodedaemon;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.gpufleet.architecture.ArchitectureRules;

/** The architecture rules of the project. */
@AnalyzeClasses(packages = "io.gpufleet.nodedaemon", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchTests architectureRules = ArchTests.in(ArchitectureRules.class);
}

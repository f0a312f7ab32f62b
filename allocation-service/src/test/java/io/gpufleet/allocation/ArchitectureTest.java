package io.gpufleet.allocation;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.gpufleet.architecture.ArchitectureRules;

/** Architecture rules. */
@AnalyzeClasses(packages = "io.gpufleet.allocation", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchTests architectureRules = ArchTests.in(ArchitectureRules.class);
}

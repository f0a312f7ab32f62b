package io.gpufleet.runtime;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.gpufleet.architecture.ArchitectureRules;
import org.jspecify.annotations.NullMarked;

@AnalyzeClasses(packages = "io.gpufleet.runtime", importOptions = ImportOption.DoNotIncludeTests.class)
@NullMarked
class ArchitectureTest {
    @ArchTest
    static final ArchTests architectureRules = ArchTests.in(ArchitectureRules.class);
}

package io.gpufleet.wire;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.gpufleet.architecture.ArchitectureRules;
import org.jspecify.annotations.NullMarked;

/** Checks {@link ArchitectureRules} for this module. */
@NullMarked
@AnalyzeClasses(
        packages = {"io.gpufleet.wire", "io.gpufleet.xid"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchTests architectureRules = ArchTests.in(ArchitectureRules.class);
}

/**
 * Code that the tests of several modules share: programs as processes, producers and readers of events, the broker and the
 * API server of a test, the real cluster. No test library is used here; failures are exceptions.
 */
@NullMarked
package io.gpufleet.testbed.testkit;

import org.jspecify.annotations.NullMarked;

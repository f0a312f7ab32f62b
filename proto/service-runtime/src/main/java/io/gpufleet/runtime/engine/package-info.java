/**
 * Runs a projection on Kafka: reads the changelog, stands for election, folds inputs in transactions, and ends a term for
 * every trouble that a restart from the log mends. What a service concludes does not belong here.
 */
@NullMarked
package io.gpufleet.runtime.engine;

import org.jspecify.annotations.NullMarked;

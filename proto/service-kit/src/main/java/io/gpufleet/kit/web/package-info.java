/**
 * HTTP server of a program: liveness, readiness with reasons, metrics, the OpenAPI document, problem details, a clear error on a
 * port in use.
 */
@NullMarked
package io.gpufleet.kit.web;

import org.jspecify.annotations.NullMarked;

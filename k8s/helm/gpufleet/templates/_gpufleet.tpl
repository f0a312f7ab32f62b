{{/* Image of a program: (list $ "PROGRAM"). */}}
{{- define "gpufleet.image" -}}
{{- $image := (index . 0).Values.image -}}
{{- printf "%s/%s:%s" $image.repository (index . 1) (default (index . 0).Chart.AppVersion $image.tag) -}}
{{- end -}}

{{/* Data of a ConfigMap of settings, as JSON: (list $ "NAME"). */}}
{{- define "gpufleet.settings" -}}
{{- $settings := index (index . 0).Values.settings (index . 1) -}}
{{- if and (eq (index . 1) "gpufleet") (index (index . 0).Values.components "kafka-client") -}}
{{- $settings = merge (deepCopy $settings) (dict "GPUFLEET_KAFKA_CONFIG" "/etc/gpufleet/kafka/client.properties") -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}

{{/* Changes with the settings that a program reads, and so rolls its pods: (list $ "PROGRAM"). */}}
{{- define "gpufleet.checksum" -}}
{{- $shared := include "gpufleet.settings" (list (index . 0) "gpufleet") -}}
{{- printf "%s %s" $shared (include "gpufleet.settings" .) | sha256sum -}}
{{- end -}}

{{/* The peers of the policy of the webhook, as JSON. */}}
{{- define "gpufleet.apiServers" -}}
{{- $peers := list -}}
{{- range .Values.apiServers }}{{ $peers = append $peers (dict "ipBlock" (dict "cidr" .)) }}{{ end -}}
{{- toJson $peers -}}
{{- end -}}

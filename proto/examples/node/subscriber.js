#!/usr/bin/env node
// Prints one line for each GPU node: node subscriber.js BOOTSTRAP [PREFIX]. Needs kafkajs. It cannot read without a
// group, so each start has a group of its own.
const { Kafka, logLevel } = require('kafkajs')

const [bootstrap, prefix = 'gpu.'] = process.argv.slice(2)
if (!bootstrap) {
  console.error('usage: node subscriber.js BOOTSTRAP [PREFIX]')
  process.exit(1)
}
const topics = [prefix + 'inventory', prefix + 'verdicts']
const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR })
const gpus = new Map(), trusted = new Map(), last = new Map(), boots = new Map()

// False for a duplicate; a lower incarnation of a boot never seen is another machine with the same name.
function isNew(topic, key, source, id, boot) {
  const writer = [source, topic, key].join(' ')
  const [, incarnation, , sequence] = id.split('/').map(Number)
  const [lastIncarnation, lastSequence] = last.get(writer) ?? [0, 0]
  const known = boots.get(writer) ?? boots.set(writer, new Set()).get(writer)
  const replaced = incarnation < lastIncarnation && boot !== undefined && !known.has(boot)
  known.add(boot)
  const later = incarnation > lastIncarnation || (incarnation === lastIncarnation && sequence > lastSequence)
  if (later || replaced) last.set(writer, [incarnation, sequence])
  return later || replaced
}

function read(topic, { key, value, headers }) {
  key = key.toString()
  if (key.startsWith('@')) return // of the service that writes the topic
  if (value === null) return trusted.delete(key) // tombstone
  const event = JSON.parse(value)
  if (!isNew(topic, key, String(headers.ce_source), String(headers.ce_id), event.bootId)) return
  if (String(headers.ce_type) === 'io.gpufleet.node.announced.v1') gpus.set(key, (event.gpus ?? []).length)
  if (String(headers.ce_type) === 'io.gpufleet.verdict.reached.v1') trusted.set(key, event.trusted ?? true)
}

async function main() {
  const admin = kafka.admin(), waiting = new Map()
  await admin.connect()
  for (const topic of topics) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      if (BigInt(high) > BigInt(low)) waiting.set(topic + partition, BigInt(high))
    }
  }
  await admin.disconnect()
  const consumer = kafka.consumer({ groupId: 'subscriber-' + process.pid + '-' + Date.now() })
  await consumer.connect()
  await consumer.subscribe({ topics, fromBeginning: true })
  const done = new Promise(resolve => {
    if (waiting.size === 0) resolve()
    // Also for a batch with commit markers only, of which eachMessage would hear nothing.
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { topic, partition, lastOffset } }) => {
      if (BigInt(lastOffset) + 1n >= waiting.get(topic + partition)) waiting.delete(topic + partition)
      if (waiting.size === 0) resolve()
    })
  })
  await consumer.run({ autoCommit: false, eachMessage: async ({ topic, message }) => read(topic, message) })
  await done // the consumer goes on; a service would keep it
  for (const node of [...gpus.keys()].sort()) console.log(`${node} gpus=${gpus.get(node)} trusted=${trusted.get(node) ?? true}`)
  await consumer.disconnect()
}

main().catch(error => { console.error(error.message); process.exit(1) })

/** Tests wait for things and not for times, and never without a bound (`test/support/waiting.ts`), as far as their text can tell. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { sources, withoutComments } from './sources.ts'

/** What tests do without, and what there is instead. */
const rules: Readonly<Record<string, RegExp>> = {
  "reads or waits on the machine's clock: until() waits for the thing, world.clock is in the hand of the test":
    /\bset(?:Timeout|Interval)\(|timers\/promises|AbortSignal\.timeout\(|\bpg_sleep\b|\bsystemClock\b|\bpause\(|\bDate\.now\(|\bperformance\.now\(/,
  'stands still: standStill() is for a test of that': /\bAtomics\.wait\(/,
  'lets turns of the event loop pass: until() looks until it is so':
    /new Promise(?:<\w+>)?\(\(?\w*\)? => (?:void )?setImmediate\(/,
  'opens a pool that gives up while the machine is busy: testPool() is patient': /\bopenPool\((?!.*connect_timeout_ms)/,
  'waits without a bound for an event: within() bounds it and names it': /\bawait once\(/,
  'makes or stops a service by itself: startProcess(), world.stop() and its stop() let time go on':
    /\bbuildApp\(|\bapp\.stop\(/,
  'loops until something happens: until() bounds it and tells what was seen': /\bdo \{/,
}
const loops = 'loops until something happens: until() bounds it and tells what was seen'

/** Files that may, with the reason. */
const exempt: Readonly<Record<string, string>> = {
  'test/support/waiting.ts': 'what bounds waiting',
  'test/support/pool.ts': 'the patient pool itself',
  'test/support/rest.ts': 'what lets time go on',
  'test/support/world.ts': 'makes and stops the service of a world',
  'test/support/process.ts': 'makes and stops further ones',
  'test/support/ends.ts': 'watches, by the machine, for files that do not end',
  'test/support/ends.test.ts': 'a file of its own that closes things for long, a second of which is a hundredth',
  'test/support/clock.ts': 'the clock in hand itself',
  'test/support/producing-process.ts': 'a process of its own, which lives in real time until it is killed there',
  'test/support/simulators/oidc.ts': 'its tokens are judged by the clock of the machine',
  'test/support/api-alone.ts': 'an API in real time, beside workers of their own that are killed',
  'test/support/load.ts': 'senders that pause between two tries on a process of its own, in real time',
  'test/scenarios/full-disk.test.ts': 'measures how soon processes of their own go on',
  'test/support/database.ts':
    'migrations wait for each other in real time; a template that another run removes is made anew, fifty times at most',
  'src/platform/database/embedded.test.ts': 'a server of its own lives in real time, on a clock that is put forward',
  'src/platform/database/migrate.test.ts': 'migrations wait for each other in real time',
  'src/platform/database/functions.test.ts': 'migrations wait for each other in real time',
  'src/platform/http/stopping.test.ts': 'asks at a moment in the middle of a stop',
  'src/platform/database/pool.test.ts': 'statements that are under way when their connection dies',
  'src/lib/clock.test.ts': 'the clock of the machine is what is tested',
  'src/cli/listener.test.ts': 'a listener that waits a moment instead of its seconds',
  'src/modules/contacts/imports/piece-writer.test.ts':
    'nothing more may happen once all callbacks have run, which a turn shows',
  'test/scenarios/crash.test.ts': 'processes of their own are killed at moments of real time',
  'test/scenarios/smpp-crash.test.ts':
    'workers of their own are killed in the middle of their work, beside an API and an SMSC that live in real time too',
  'src/platform/database/clock-sync.test.ts': 'sets the offset of the machine’s clock, whatever the time is',
  'test/scenarios/campaign-crash.test.ts':
    'workers of their own are killed at moments of real time, beside an API that lives in it too',
  'test/scenarios/fleet.test.ts':
    'four processes of their own are killed and hung at moments of real time, and measured by it',
  'test/support/fleet.ts': 'Twilio as it is simulated beside them lives in real time too',
  'test/support/tcp-line.ts': 'sockets are paused, and no time',
  'test/scenarios/automation-crash.test.ts': 'as campaign-crash.test.ts',
  'test/scenarios/poolers.test.ts': 'a pooler is a process of its own, which keeps a transaction waiting in real time',
  'test/scenarios/webhook-receivers.test.ts': 'receivers that drip and flood',
  'test/scenarios/hand-over.test.ts': 'that a stop waits for nothing but the answers under way is what is tested',
  'test/scenarios/billing.test.ts': 'the pages of a list end',
  'test/scenarios/billing-processes.test.ts': 'the pages of a list end',
  'test/scenarios/webhook-endpoints.test.ts': 'the pages of a list end',
  'test/scenarios/projections.test.ts': 'looks while work is under way that is bounded itself',
  'test/simulation/processes.ts': 'kills after a seeded number of turns',
}

test('no test sleeps, and none waits without a bound', () => {
  const breaches = testFiles().flatMap(({ path, text }) => {
    if (path in exempt || path.startsWith('test/architecture/waiting')) return []
    const code = withoutComments(text)
    const lines = code.split('\n').flatMap((line, at) => {
      const broken = Object.keys(rules).find((rule) => rules[rule]!.test(line))
      return broken === undefined ? [] : [`${path}:${at + 1} ${broken}`]
    })
    return [...lines, ...waitingLoops(code).map((at) => `${path}:${at} ${loops}`)]
  })

  assert.deepEqual(breaches, [])
})

test('whoever is exempt is there, and has something to be exempt for', () => {
  const files = new Map(testFiles().map(({ path, text }) => [path, withoutComments(text)]))

  for (const path of Object.keys(exempt)) {
    const code = files.get(path)
    assert.ok(code !== undefined, path)
    assert.ok(
      waitingLoops(code).length > 0 ||
        code.split('\n').some((line) => Object.values(rules).some((rule) => rule.test(line))),
      path,
    )
  }
})

const testFiles = () => sources('src/**/*.test.ts', 'test/**/*.ts')

/** The lines of loops that have no counter and await in themselves. */
function waitingLoops(code: string): number[] {
  return [...code.matchAll(/\b(?:while|for) \(/g)].flatMap(({ index }) => {
    const head = balanced(code, code.indexOf('(', index))
    const [, , step] = code.slice(index, head - 1).split(';')
    if (code.startsWith('for', index) && step?.trim() !== '') return []
    const rest = code.slice(head)
    const body = /^\s*\{/.test(rest)
      ? code.slice(head, balanced(code, code.indexOf('{', head)))
      : rest.slice(0, rest.indexOf('\n'))
    return /\bawait\b/.test(code.slice(index, head) + body) ? [code.slice(0, index).split('\n').length] : []
  })
}

/** Where the bracket that opens at `from` is closed. */
function balanced(code: string, from: number): number {
  let depth = 0
  for (let at = from; at < code.length; at++) {
    if ('({['.includes(code[at]!)) depth += 1
    if (')}]'.includes(code[at]!) && --depth === 0) return at + 1
  }
  return code.length
}

/** Every query on tenant data names account and mode, except in workers listed here. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { productSources, root, templates, type Source } from './sources.ts'

test('a query on tenant data names account_id, and mode if the table has it', () => {
  assert.deepEqual(breachesIn(queries()), [])
})

test('a query is read with all its fragments', () => {
  const seen = (text: string) => breachesIn(queriesIn({ path: 'src/modules/messages/x-store.ts', text }))

  assert.deepEqual(seen('const one = sql`select ${all ? sql`* from messages` : sql`1`}`'), [
    'src/modules/messages/x-store.ts one: messages without account_id and mode',
  ])
  assert.deepEqual(
    seen('const one = sql`select * from messages where ${sql`account_id = ${a} and ${sql`mode = ${b}`}`}`'),
    [],
  )
})

function breachesIn(found: readonly Query[]): string[] {
  const tables = tenantTables()
  return found.flatMap(({ at, text }) => {
    if (isExempt(at)) return []
    const used = tables.filter(({ name }) => new RegExp(`\\b(?:from|join|update|into)\\s+${name}\\b`).test(text))
    if (used.length === 0) return []
    const lacks = [
      ...(/\baccount_id\b/.test(text) ? [] : ['account_id']),
      ...(used.some(({ mode }) => mode) && !/\bmode\b/.test(text) ? ['mode'] : []),
    ]
    return lacks.length === 0
      ? []
      : [`${at}: ${used.map(({ name }) => name).join(', ')} without ${lacks.join(' and ')}`]
  })
}

const exempt: Record<string, string> = {
  'src/modules/console/request-log/repository.ts forgetSizes': 'sizes of days that are dropped for every account',
  'src/modules/messages/invariants.ts': 'doctor proves all accounts in one pass',
  'src/modules/messages/dispatch/repository.ts': 'the dispatch worker takes due work of every channel',
  'src/modules/messages/dispatch/queues-repository.ts': 'the jobs of the dispatch worker, as above',
  'src/modules/messages/dispatch/channels-repository.ts': 'the dispatch worker pauses channels of every account',
  'src/modules/messages/transitions-repository.ts update':
    'the head of statements, each of which adds found(), the condition that names both',
  'src/modules/messages/callbacks/repository.ts': 'the reports worker applies what providers told of any account',
  'src/modules/messages/inbound/repository.ts takeDueParts':
    'the inbound-parts worker ends what is due of every account',
  'src/modules/webhooks/dispatch/repository.ts': 'the fan-out and deliver workers follow every account',
  'src/modules/webhooks/delivery-repository.ts listDeliveries':
    'the queue is joined to deliveries that are already of one account',
  'src/modules/webhooks/delivery-repository.ts findDelivery': 'as above',
  'src/modules/webhooks/delivery-repository.ts recordRequested': 'the deliver worker settles by ids',
  'src/modules/webhooks/endpoint-repository.ts listSealed': 'a rotation of the secret key seals everything anew',
  'src/modules/webhooks/endpoint-repository.ts reseal': 'as above',
  'src/modules/media/repository.ts':
    'the media worker copies and deletes files of every account, and an address that is signed knows no tenant',
  'src/modules/channels/repository.ts listSealed': 'a rotation of the secret key re-encrypts every credential',
  'src/modules/channels/repository.ts reseal': 'a rotation of the secret key re-encrypts every credential',
  'src/modules/channels/repository.ts findHolder': 'an identifier belongs to one account in the whole installation',
  'src/modules/campaigns/repository.ts findTenant':
    'the operator names a campaign by its id alone, on the command line',
  'src/modules/channels/repository.ts findAnyChannel': "a provider's callback names a channel and knows no account",
  'src/modules/channels/templates/repository.ts claimRefreshes': 'the templates worker reads for every account',
  'src/modules/channels/repository.ts listDisconnected': 'the reconnect worker tries the lost links of every account',
  'src/modules/channels/repository.ts listDeletedSince': 'the queues of deleted channels of every account are emptied',
  'src/modules/channels/repository.ts countByConnectionStatus': 'an operator asks how many links of all accounts stand',
  'src/modules/channels/sessions/repository.ts': 'the sessions worker keeps the sessions of every account',
  'src/modules/messages/list-repository.ts': 'every statement holds the conditions of where(), which begin with both',
  'src/modules/contacts/repository.ts listContacts': 'its conditions begin with both',
  'src/modules/campaigns/job-repository.ts anyDue': 'the campaign workers look for due work of every account',
  'src/modules/campaigns/invariants.ts': 'doctor proves all accounts in one pass',
  'src/modules/campaigns/counter-repository.ts foldCounters': 'the periodicJob folds the counters of every campaign',
  'src/modules/automations/redactions/repository.ts firstRedaction': 'the metric is of the whole installation',
  'src/modules/automations/redactions/repository.ts listRedactionsBefore': 'doctor proves all accounts in one pass',
  'src/modules/automations/sources/repository.ts findSourceByKeyHash': 'a source key tells whose it is',
  'src/modules/automations/sources/repository.ts findSourceOfWebhook':
    "a shop's webhook names a source and knows no account",
  'src/modules/automations/sources/repository.ts listSealedSources':
    'a rotation of the secret key seals everything anew',
  'src/modules/automations/sources/repository.ts resealSource': 'as above',
  'src/modules/automations/sources/repository.ts shareSources':
    'what many accounts report is accepted at once; whose a source is, its caller compares',
  'src/modules/automations/events/repository.ts findKnown': 'as above, by sources that were compared',
  'src/modules/automations/events/repository.ts findReceipts': 'as above',
  'src/modules/automations/events/repository.ts deleteOrphanedReceipts': 'a periodicJob',
  'src/modules/automations/runs/repository.ts endFound': 'the end of statements that have found runs by both',
  'src/modules/automations/runs/due-repository.ts': 'the automation-runs worker takes due runs of every account',
  'src/modules/automations/invariants.ts': 'doctor proves all accounts in one pass',
  'src/modules/automations/runs/repository.ts listRunsOfEvents': 'by receipts that were found to be of the tenant',
  'src/modules/contacts/imports/invariants.ts': 'doctor checks all accounts in one pass',
  'src/modules/contacts/imports/repository.ts':
    'the imports worker and its periodicJobs work for every account, by the ids of jobs',
  'src/modules/mail/repository.ts': 'e-mails to people of all accounts, and of none',
  'src/modules/console/team/repository.ts findInvitation': 'a link tells which account it opens',
  'src/modules/console/team/repository.ts forgetInvitations': 'a periodicJob',
  'src/modules/accounts/repository.ts countUnrevokedKeys': 'the limit of keys is of both modes',
  'src/platform/database/migrate.ts updateInstallation': 'the order of the feed is one for all',
  'src/platform/http/idempotency-repository.ts expireKeys': 'a periodicJob',
  'src/modules/console/audit/repository.ts forgetAudit': 'a periodicJob',
  'src/modules/console/conversations/repository.ts forgetConversations': 'a periodicJob',
  'src/modules/messages/repository.ts': 'months of messages end for every account',
}

const isExempt = (at: string): boolean => [at, at.split(' ')[0]!].some((name) => Object.hasOwn(exempt, name))

function tenantTables(): { name: string; mode: boolean }[] {
  const schema = readFileSync(join(root, 'schema.sql'), 'utf8')
  return [...schema.matchAll(/^create table (\w+) \(\n([\s\S]*?)\n\)/gm)]
    .map((match) => ({ name: match[1]!, columns: match[2]! }))
    .filter(({ columns }) => /^ {2}account_id /m.test(columns))
    .map(({ name, columns }) => ({ name, mode: /^ {2}mode /m.test(columns) }))
}

interface Query {
  readonly at: string
  readonly text: string
}

function queries(): Query[] {
  return productSources().flatMap(queriesIn)
}

function queriesIn({ path, text }: Source): Query[] {
  return templates(text)
    .filter((template) => /\b(?:select|insert|update|delete)\b/.test(template.text))
    .map((template) => ({ at: `${path} ${functionAt(text, template.index)}`, text: template.text }))
}

function functionAt(code: string, index: number): string {
  const before = [
    ...code.slice(0, index).matchAll(/^(?:export )?(?:async )?function (\w+)|^(?:export )?const (\w+) = /gm),
  ].at(-1)
  return before?.[1] ?? before?.[2] ?? ''
}

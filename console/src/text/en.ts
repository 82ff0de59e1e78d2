/** All texts of the console, in English. Components contain no text of their own. */
import { audit, billing, platform, settings, team } from './en/account.ts'
import { automations, integrations } from './en/automations.ts'
import { campaigns } from './en/campaigns.ts'
import { channels } from './en/channels.ts'
import { contactImports, contactLists, contacts, rules, segments } from './en/contacts.ts'
import { developers, events, webhooks } from './en/developers.ts'
import { frame, home, screens } from './en/frame.ts'
import { content, inbox, messages } from './en/messages.ts'
import { people, profile } from './en/people.ts'

export const text = {
  frame,
  screens,
  home,
  developers,
  team,
  settings,
  audit,
  people,
  platform,
  profile,
  contactLists,
  segments,
  rules,
  billing,
  channels,
  contacts,
  contactImports,
  content,
  messages,
  inbox,
  campaigns,
  automations,
  integrations,
  webhooks,
  events,

  product: 'Posthorn',
  skip: 'Skip to content',

  list: {
    newer: 'Newer',
    older: 'Older',
    noMatch: 'Nothing matches.',
    clear: 'Clear filters',
    filters: 'Filters',
    loading: 'Loading …',
  },

  api: {
    button: 'API',
    title: 'The request that does the same',
    key: 'Put an API key of this account and mode in place of $POSTHORN_KEY.',
    session:
      'This is the console’s alone: no API key opens it. It takes the cookie of your session, which the browser keeps, in place of $POSTHORN_SESSION.',
    copy: 'Copy',
    copied: 'Copied',
    reference: 'Its page in the reference',
    close: 'Close',
  },

  secret: {
    once: 'This is shown only now. Store it where it is safe.',
    stored: 'I have stored it',
    copy: 'Copy',
  },

  problem: {
    title: 'That did not work',
    code: (code: string) => `Code ${code}`,
    request: (id: string) => `Request ${id}`,
    again: 'Try again',
    network: 'The service could not be reached. Check your connection.',
    unexpected: 'The service answered in a way that the console does not understand.',
    required: 'Fill this in.',
    crashed: 'This screen has failed. Reload it; if that does not help, tell your operator what stands below.',
  },

  notFound: {
    title: 'Not found',
    why: 'There is no screen at this address, or nothing of yours that it names.',
  },

  notAllowed: {
    title: 'Not allowed',
    why: 'Your role in this account does not show this. Ask an owner of it for another role.',
    button: 'Your role does not allow this here.',
    impersonating: 'Not while you act for an account: you can read, pause, retry, test and reconnect.',
  },

  outdated: {
    why: 'Somebody has changed this since you began. What you entered is kept; saving it puts it in the place of theirs.',
    show: 'Show what is stored',
  },

  dialog: { close: 'Close', cancel: 'Cancel' },
} as const

/** Spellings of names and initialisms. */
const spellings: Readonly<Record<string, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  api: 'API',
  smpp: 'SMPP',
  rcs: 'RCS',
  id: 'ID',
  url: 'URL',
  sid: 'SID',
}

/** An API value as people read it: `provider_error` becomes "Provider error". */
export function humanize(word: string): string {
  const spaced = word
    .split('_')
    .map((part) => spellings[part] ?? part)
    .join(' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

/** All texts of the console, in English. */
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
    noMatch: 'No results match these filters.',
    clear: 'Clear filters',
    filters: 'Filters',
    loading: 'Loading …',
  },

  api: {
    button: 'API',
    title: 'The same request by API',
    key: 'Replace $POSTHORN_KEY with an API key of this account and mode.',
    session:
      'Only the console can send this request; API keys are not accepted. Replace $POSTHORN_SESSION with the session cookie from your browser.',
    copy: 'Copy',
    copied: 'Copied',
    reference: 'Open in the API reference',
    close: 'Close',
  },

  secret: {
    once: 'This is shown only once. Store it in a safe place.',
    stored: 'I have stored it',
    copy: 'Copy',
  },

  problem: {
    title: 'That did not work',
    code: (code: string) => `Code ${code}`,
    request: (id: string) => `Request ${id}`,
    again: 'Try again',
    network: 'The service could not be reached. Check your connection, then try again.',
    unexpected:
      'The service sent an unexpected response. Reload the page; if this happens again, contact your operator.',
    required: 'Fill this in.',
    crashed: 'This screen failed. Reload it; if that does not help, send the error below to your operator.',
  },

  notFound: {
    title: 'Not found',
    why: 'This page does not exist, or it is about something that your account does not have. Check the address.',
  },

  notAllowed: {
    title: 'Not allowed',
    why: 'Your role in this account has no access to this page. Ask an owner of the account for another role.',
    button: 'Your role does not allow this.',
    impersonating: 'Not available while you act for an account. You can read, pause, retry, test and reconnect.',
  },

  outdated: {
    why: 'Somebody else changed this while you were editing. Saving replaces their changes with yours.',
    show: 'Show their version',
  },

  dialog: { close: 'Close', cancel: 'Cancel' },
} as const

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

/** `provider_error` becomes "Provider error". */
export function humanize(word: string): string {
  const spaced = word
    .split('_')
    .map((part) => spellings[part] ?? part)
    .join(' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

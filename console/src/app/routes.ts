/** The screens of an account, with path, permission and menu entry. */
import type { ComponentType } from 'react'
import type { Permission } from '../api/session.ts'
import type { text } from '../text/en.ts'

export interface ScreenRoute {
  /** In the router's syntax: `messages/$id`. */
  readonly path: string
  /** Absent: open to every member. */
  readonly needs?: Permission
  readonly load: () => Promise<ComponentType>
  readonly menu?: keyof typeof text.screens
}

export const accountScreens: readonly ScreenRoute[] = [
  { path: '/', menu: 'home', load: async () => (await import('../features/home/home-screen.tsx')).HomeScreen },
  {
    path: 'messages',
    menu: 'messages',
    needs: 'messages:read',
    load: async () => (await import('../features/messages/messages-screen.tsx')).MessagesScreen,
  },
  {
    path: 'messages/$id',
    needs: 'messages:read',
    load: async () => (await import('../features/messages/message-screen.tsx')).MessageScreen,
  },
  {
    path: 'inbox',
    menu: 'inbox',
    needs: 'messages:read',
    load: async () => (await import('../features/inbox/inbox-screen.tsx')).InboxScreen,
  },
  {
    path: 'contacts',
    menu: 'contacts',
    needs: 'contacts:read',
    load: async () => (await import('../features/contacts/contacts-screen.tsx')).ContactsScreen,
  },
  {
    path: 'contacts/$id',
    needs: 'contacts:read',
    load: async () => (await import('../features/contacts/contact-screen.tsx')).ContactScreen,
  },
  {
    path: 'contacts/import',
    needs: 'import',
    load: async () => (await import('../features/contacts/import-screen.tsx')).ImportScreen,
  },
  {
    path: 'lists',
    menu: 'lists',
    needs: 'contacts:read',
    load: async () => (await import('../features/contacts/lists-screen.tsx')).ListsScreen,
  },
  {
    path: 'segments',
    menu: 'segments',
    needs: 'contacts:read',
    load: async () => (await import('../features/segments/segments-screen.tsx')).SegmentsScreen,
  },
  {
    path: 'segments/new',
    needs: 'contacts:read',
    load: async () => (await import('../features/segments/segment-screen.tsx')).NewSegmentScreen,
  },
  {
    path: 'segments/$id',
    needs: 'contacts:read',
    load: async () => (await import('../features/segments/segment-screen.tsx')).SegmentScreen,
  },
  {
    path: 'channels',
    needs: 'channels:read',
    menu: 'channels',
    load: async () => (await import('../features/channels/channels-screen.tsx')).ChannelsScreen,
  },
  {
    path: 'channels/new',
    needs: 'channels:write',
    load: async () => (await import('../features/channels/connect-channel-screen.tsx')).ConnectChannelScreen,
  },
  {
    path: 'channels/$id',
    needs: 'channels:read',
    load: async () => (await import('../features/channels/channel-screen.tsx')).ChannelScreen,
  },
  {
    path: 'templates',
    needs: 'channels:read',
    menu: 'templates',
    load: async () => (await import('../features/channels/templates-screen.tsx')).TemplatesScreen,
  },
  {
    path: 'templates/$channel/$id',
    needs: 'channels:read',
    load: async () => (await import('../features/channels/templates-screen.tsx')).TemplateScreen,
  },
  {
    path: 'campaigns',
    needs: 'campaigns:read',
    menu: 'campaigns',
    load: async () => (await import('../features/campaigns/campaigns-screen.tsx')).CampaignsScreen,
  },
  {
    path: 'campaigns/new',
    needs: 'campaigns:read',
    load: async () => (await import('../features/campaigns/campaign-form.tsx')).NewCampaignScreen,
  },
  {
    path: 'campaigns/$id',
    needs: 'campaigns:read',
    load: async () => (await import('../features/campaigns/campaign-screen.tsx')).CampaignScreen,
  },
  {
    path: 'automations',
    needs: 'integrations:read',
    menu: 'automations',
    load: async () => (await import('../features/automations/automations-screen.tsx')).AutomationsScreen,
  },
  {
    path: 'automations/new',
    needs: 'integrations:read',
    load: async () => (await import('../features/automations/automation-screen.tsx')).NewAutomationScreen,
  },
  {
    path: 'automations/$id',
    needs: 'integrations:read',
    load: async () => (await import('../features/automations/automation-screen.tsx')).AutomationScreen,
  },
  {
    path: 'integrations',
    needs: 'integrations:read',
    menu: 'integrations',
    load: async () => (await import('../features/integrations/sources-screen.tsx')).SourcesScreen,
  },
  {
    path: 'integrations/$id',
    needs: 'integrations:read',
    load: async () => (await import('../features/integrations/source-screen.tsx')).SourceScreen,
  },
  {
    path: 'webhooks',
    needs: 'webhooks:read',
    menu: 'webhooks',
    load: async () => (await import('../features/webhooks/webhooks-screen.tsx')).WebhooksScreen,
  },
  {
    path: 'webhooks/$id',
    needs: 'webhooks:read',
    load: async () => (await import('../features/webhooks/endpoint-screen.tsx')).EndpointScreen,
  },
  {
    path: 'events',
    needs: 'events:read',
    menu: 'events',
    load: async () => (await import('../features/events/events-screen.tsx')).EventsScreen,
  },
  {
    path: 'events/$id',
    needs: 'events:read',
    load: async () => (await import('../features/events/events-screen.tsx')).EventScreen,
  },
  {
    path: 'developers',
    menu: 'developers',
    needs: 'requests',
    load: async () => (await import('../features/developers/developers-screen.tsx')).DevelopersScreen,
  },
  {
    path: 'billing',
    menu: 'billing',
    needs: 'billing:read',
    load: async () => (await import('../features/billing/billing-screen.tsx')).BillingScreen,
  },
  {
    path: 'team',
    menu: 'team',
    needs: 'team',
    load: async () => (await import('../features/account/team-screen.tsx')).TeamScreen,
  },
  {
    path: 'settings',
    menu: 'settings',
    needs: 'settings',
    load: async () => (await import('../features/account/settings-screen.tsx')).SettingsScreen,
  },
  {
    path: 'audit',
    menu: 'audit',
    needs: 'audit',
    load: async () => (await import('../features/account/audit-screen.tsx')).AuditScreen,
  },
]

/** The values of enum fields as types. New values may be added. */
import type { ErrorBody, Event, Message, Channel, Campaign, ContactImport } from './generated/types.js'

export type ErrorCode = ErrorBody['code']
export type ErrorType = ErrorBody['type']
export type EventType = Event['type']
export type MessageType = Message['type']
export type MessageStatus = Message['status']
export type ChannelType = Channel['type']
export type ChannelStatus = Channel['status']
export type CampaignStatus = Campaign['status']
export type ImportStatus = ContactImport['status']

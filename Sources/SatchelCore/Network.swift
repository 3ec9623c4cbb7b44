/// The network, as the host sees it: what refreshing and synchronizing may use.
public enum Network: String, Sendable, CaseIterable {
  /// Nothing is asked or sent.
  case none
  /// Refreshing asks for what is missing or expired, and not for what is merely old; a sync transfers no assets.
  case metered
  case free
}

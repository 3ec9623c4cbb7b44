/// How a store wants to have its tags back in conditions.
enum ETagSpelling: Sendable {
  /// Not known yet.
  case unknown
  /// In quotes, as HTTP and S3 have it.
  case quoted
  /// Without them: Ceph takes a quoted tag for another one.
  case bare

  func header(_ etag: ETag) -> String { self == .bare ? Self.inner(etag.text) : etag.text }

  /// One form for all that stores write: in quotes, and never weak, for which no store would take it back.
  static func tag(_ text: String) -> ETag? {
    let inner = inner(text.hasPrefix("W/") ? String(text.dropFirst(2)) : text)
    return inner.isEmpty ? nil : ETag("\"\(inner)\"")
  }

  private static func inner(_ text: String) -> String {
    text.utf8.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
      ? String(text.dropFirst().dropLast()) : text
  }
}

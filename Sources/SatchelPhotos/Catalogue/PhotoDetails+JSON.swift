import SatchelJSON

extension PhotoDetails {
  /// As it crosses the C boundary: the photo's members, starred, local_only, backup_status, attempts, last_attempt,
  /// error, and those of its metadata.
  public var json: JSONValue {
    var object = photo.members
    object["starred"] = .bool(isStarred)
    object["local_only"] = .bool(isLocalOnly)
    object["backup_status"] = .string(backup.rawValue)
    object["attempts"] = .int(attempts)
    object["last_attempt"] = lastAttempt.map { .int($0) } ?? .null
    object["error"] = error.map { .string($0) } ?? .null
    metadata.write(into: &object)
    return .object(object)
  }
}

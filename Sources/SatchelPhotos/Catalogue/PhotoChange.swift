import SatchelJSON

/// What this side made of a photo since the last agreement with the master.
public struct PhotoChange: Sendable, Equatable {
  public var md5: MD5
  /// The photo as it is here; nil when it was deleted.
  public var photo: Photo?
  /// The photo as it was agreed; nil when it is new.
  public var base: Photo?

  public var kind: PhotoConflict.Kind { photo == nil ? .delete : .upsert }

  /// As it crosses the C boundary: md5, kind, photo, base.
  public var json: JSONValue {
    [
      "md5": .string(md5.description), "kind": .string(kind.rawValue), "photo": photo?.json ?? .null,
      "base": base?.json ?? .null,
    ]
  }
}

import SatchelCore
import SatchelStorage

extension SatchelError.Details {
  static func collection(_ name: String) -> SatchelError.Details {
    SatchelError.Details(subject: Change.Subject.records.rawValue, collection: name)
  }

  static func record(_ collection: String, _ key: some Collection<UInt8>, pointer: String? = nil)
    -> SatchelError.Details
  {
    SatchelError.Details(
      subject: Change.Subject.records.rawValue, collection: collection,
      id: String(decoding: key, as: UTF8.self),
      pointer: pointer)
  }

  /// - Parameter name: "collection/id"; a collection's name has no slash
  static func record(named name: String, pointer: String? = nil) -> SatchelError.Details {
    let (collection, id) = parts(of: name)
    return record(collection, id.utf8, pointer: pointer)
  }

  /// A record, "collection/id", that is in the way.
  static func blocked(by name: String) -> SatchelError.Details {
    let (collection, id) = parts(of: name)
    return SatchelError.Details(otherCollection: collection, otherID: id)
  }

  private static func parts(of name: String) -> (collection: String, id: String) {
    guard let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")) else { return (name, "") }
    return (String(name[..<slash]), String(name[name.utf8.index(after: slash)...]))
  }
}

import SatchelCore
import SatchelJSON
import SatchelStorage

/// The members of documents that an app's type has. A document that is written as such a type keeps those members of
/// the stored one that the type does not have: a newer version of the app may have written them.
struct KnownMembers: Sendable {
  private indirect enum Member: Sendable {
    /// A value that the type has as a whole.
    case whole
    /// An object of a type, by its number.
    case object(Int)
    /// The elements of an array, or the values of an object, whose names are data.
    case each(Member)

    init(_ json: JSONValue, count: Int, at pointer: String) throws {
      switch json {
      case .null: self = .whole
      case .int(let number) where (0..<Int64(count)).contains(number): self = .object(Int(number))
      case .array(let only) where only.count == 1:
        self = .each(try Member(only[0], count: count, at: pointer + "/0"))
      default:
        throw JSONError("must be null, the number of a type, or an array with one of these", pointer: pointer)
      }
    }
  }

  /// The members of each type, in their order; the first type is that of documents.
  private let types: [[(name: String, member: Member)]]
  private let lookup: [[String: Member]]
  /// The JSON that `init(json:)` reads.
  let json: JSONValue

  /// Reads `[{"name": null, "address": 1, "tags": [null]}, {"street": null}]`.
  ///
  /// - Throws: `.invalid` with the JSON Pointer
  init(json: JSONValue) throws {
    self.json = json
    types = try naming("known") {
      guard case .array(let types) = json, !types.isEmpty else {
        throw JSONError("must be an array with an object for each type", pointer: "")
      }
      return try types.enumerated().map { number, type in
        guard case .object(let members) = type else {
          throw JSONError("must be an object", pointer: "/\(number)")
        }
        return try members.map {
          let pointer = "/\(number)/" + JSONPointer.escaped($0.key)
          return ($0.key, try Member($0.value, count: types.count, at: pointer))
        }
      }
    }
    lookup = types.map {
      Dictionary($0.map { ($0.name, $0.member) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// The number of types.
  var count: Int { types.count }

  /// Returns a document with the members of the stored one that a type does not have; nil when there are none.
  func keeping(_ stored: JSONValue, in document: JSONValue, type: Int) -> JSONValue? {
    hasUnknown(stored, .object(type)) ? merged(document, stored, member: .object(type)) : nil
  }

  private func hasUnknown(_ value: JSONValue, _ member: Member) -> Bool {
    switch (member, value) {
    case (.object(let type), .object(let members)):
      return members.contains { key, value in lookup[type][key].map { hasUnknown(value, $0) } ?? true }
    case (.each(let inner), .object(let members)): return members.contains { hasUnknown($0.value, inner) }
    case (.each(let inner), .array(let elements)): return elements.contains { hasUnknown($0, inner) }
    default: return false
    }
  }

  private func merged(_ new: JSONValue, _ old: JSONValue, member: Member) -> JSONValue {
    switch (member, new, old) {
    case (.object(let type), .object(let new), .object(let old)):
      var result: JSONObject = [:]
      for (key, value) in new {
        let inner = lookup[type][key] ?? .whole
        result[key] = old[key].map { merged(value, $0, member: inner) } ?? value
      }
      for (key, value) in old where lookup[type][key] == nil && new[key] == nil { result[key] = value }
      return .object(result)
    case (.each(let inner), .object(let new), .object(let old)):
      var result: JSONObject = [:]
      for (key, value) in new { result[key] = old[key].map { merged(value, $0, member: inner) } ?? value }
      return .object(result)
    case (.each(let inner), .array(let new), .array(let old)):
      return .array(elements(new, old, member: inner))
    default: return new
    }
  }

  /// Matches each element with its previous version: first equal ones, then those with the same first member.
  private func elements(_ new: [JSONValue], _ old: [JSONValue], member: Member) -> [JSONValue] {
    let known = old.map { self.known($0, member) }
    return DocumentChange.matched(new, with: known) {
      guard case .object(let type) = member, let first = types[type].first?.name,
        case .object(let members) = $0
      else { return nil }
      return try? JSONValue.array([members[first] ?? .null]).serialized()
    } merging: {
      merged($0, old[$1], member: member)
    }
  }

  /// Returns a value without the members that its type does not have.
  private func known(_ value: JSONValue, _ member: Member) -> JSONValue {
    switch (member, value) {
    case (.object(let type), .object(let members)):
      var result: JSONObject = [:]
      for (name, inner) in types[type] { if let value = members[name] { result[name] = known(value, inner) } }
      return .object(result)
    case (.each(let inner), .object(let members)):
      var result: JSONObject = [:]
      for (key, value) in members { result[key] = known(value, inner) }
      return .object(result)
    case (.each(let inner), .array(let elements)): return .array(elements.map { known($0, inner) })
    default: return value
    }
  }
}

extension RecordCollection {
  /// Returns another handle of the collection, by which documents are written with the members of the stored ones that
  /// a type does not have.
  ///
  /// - Parameter known: the members that the type has; see `KnownMembers`
  /// - Throws: `.invalid` with the JSON Pointer
  package func writing(known: JSONValue) throws -> RecordCollection {
    RecordCollection(self, known: try KnownMembers(json: known))
  }
}

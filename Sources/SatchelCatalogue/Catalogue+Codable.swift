import SatchelCore
import SatchelJSON
import SatchelStorage

/// The effect of a section on the stored one of that name.
public enum SectionAction: String, Sendable, CaseIterable {
  case replace
  /// Applies the operation that the section's config states, such as "append".
  case edit
}

extension Catalogue {
  /// Stores a section whose content is a value of the app's, in one transaction.
  ///
  /// - Parameters:
  ///   - name: the section's name
  ///   - content: the content; objects with a member `_storage` are stored as entities
  ///   - action: what to do with the stored section of that name
  ///   - config: an object; of an edit it has `operation`, and `target_path` and `match` where they apply
  ///   - location: the location that the section belongs to
  ///   - reuse: the policy for entities that are already stored
  ///   - etag: the entity tag of the answer (RFC 9110); nil for none
  /// - Throws: as `persist(_:at:reuse:etag:)`, also when the value cannot be encoded
  @discardableResult
  public func persist<Content: Encodable>(
    _ name: String, _ content: Content, action: SectionAction = .replace, displayTitle: String? = nil,
    config: JSONValue = .null, at location: Location, reuse: Reuse = .unlessChanged, etag: String? = nil
  ) throws -> Receipt {
    do {
      return try persist(
        [
          "section": .string(name), "action": .string(action.rawValue),
          "display_title": displayTitle.map { .string($0) } ?? .null, "config": config,
          "content": try JSONValue(encoding: content),
        ], at: location, reuse: reuse, etag: etag)
    } catch let error as EncodingError {
      throw SatchelError(.invalid, "section \(name): \(JSONError(error))", underlying: error)
        .at(.section(name))
    }
  }
}

/// A member that no valid value has.
package struct JSONSchemaExcludedMember: Equatable {
  /// The position of its name in the path.
  package var position: Int
  /// The name that was probably meant; nil when none is similar.
  package var suggestion: String?
}

extension JSONSchema {
  /// Returns the first member of a path that a schema excludes from all valid values: because
  /// "additionalProperties" or "unevaluatedProperties" is false, or because the value before it has no members.
  ///
  /// - Parameter reachesArrays: whether numbers in the path are also positions in arrays
  /// - Returns: nil when it may exist, and when that cannot be decided
  package func excludedMember(of path: [String], reachesArrays: Bool) -> JSONSchemaExcludedMember? {
    var search = JSONSchemaPathSearch(program, path: path, reachesArrays: reachesArrays)
    guard let found = search.excluded(at: 0, 0) else { return nil }
    return JSONSchemaExcludedMember(
      position: found.position, suggestion: EditDistance.nearest(to: path[found.position], among: found.names)
    )
  }
}

/// The search for a member of a path that a schema excludes.
private struct JSONSchemaPathSearch {
  struct Excluded {
    var position: Int
    /// The names that are allowed there.
    var names: [String]
  }

  private let program: JSONSchemaProgram
  private let path: [String]
  private let reachesArrays: Bool
  /// The schemas whose decision is in progress; schemas may refer to themselves.
  private var active: Set<[Int]> = []
  /// The number of schemas that may still be looked at.
  private var stepsLeft = 10_000

  init(_ program: JSONSchemaProgram, path: [String], reachesArrays: Bool) {
    self.program = program
    self.path = path
    self.reachesArrays = reachesArrays
  }

  /// - Parameters:
  ///   - index: of a schema
  ///   - position: of the name in the path that is a member of the schema's value
  mutating func excluded(at index: Int, _ position: Int) -> Excluded? {
    guard position < path.count, stepsLeft > 0, active.count < 200, active.insert([index, position]).inserted
    else { return nil }
    defer { active.remove([index, position]) }
    stepsLeft -= 1
    let node = program.nodes[index]
    if let target = node.alias { return excluded(at: target, position) }
    if let verdict = node.verdict {
      return verdict ? nil : Excluded(position: max(0, position - 1), names: [])
    }
    let rules = program.rules[node.rules]
    let types = rules.lazy.compactMap { rule -> JSONSchemaTypes? in
      if case .type(let types, _) = rule { types } else { nil }
    }.first
    if let types, types.isDisjoint(with: [.object, .array]) {
      return Excluded(position: position, names: [])
    }
    if isPosition(position), types?.contains(.array) ?? true { return nil }
    for rule in rules {
      if let found = excluded(by: rule, position, of: rules) { return found }
    }
    return nil
  }

  private mutating func excluded(
    by rule: JSONSchemaRule, _ position: Int, of rules: ArraySlice<JSONSchemaRule>
  ) -> Excluded? {
    switch rule {
    case .reference(let index): return excluded(at: index, position)
    case .all(let list):
      for index in program.lists[list.range] {
        if let found = excluded(at: index, position) { return found }
      }
      return nil
    case .any(let list), .one(let list):
      var farthest: Excluded?
      for index in program.lists[list.range] {
        guard var found = excluded(at: index, position) else { return nil }
        if let known = farthest, known.position >= found.position {
          found = Excluded(
            position: known.position,
            names: known.names + (known.position == found.position ? found.names : []))
        }
        farthest = found
      }
      return farthest
    case .members(let number):
      let members = program.members[number]
      let name = Array(path[position].utf8)
      if let known = name.withUnsafeBytes({ members.names.find($0) }), members.named[known].index >= 0 {
        return excluded(at: members.named[known].index, position + 1)
      }
      guard members.patterns.isEmpty, let additional = members.additional else { return nil }
      if isImpossible(additional) { return Excluded(position: position, names: members.properties) }
      return excluded(at: additional, position + 1)
    case .unevaluated(_, let others?):
      // Other schemas of the same value may evaluate the member.
      let isAlone = rules.allSatisfy { rule in
        switch rule {
        case .reference, .all, .any, .one, .not, .condition, .dependentSchemas: false
        default: true
        }
      }
      guard isAlone, isImpossible(others) else { return nil }
      var names: [String] = []
      for case .members(let number) in rules {
        let members = program.members[number]
        guard members.patterns.isEmpty, members.additional == nil else { return nil }
        names += members.properties
      }
      return names.contains { $0.hasSameBytes(as: path[position]) }
        ? nil : Excluded(position: position, names: names)
    default: return nil
    }
  }

  private func isImpossible(_ index: Int) -> Bool {
    program.nodes[program.nodes[index].alias ?? index].verdict == false
  }

  private func isPosition(_ position: Int) -> Bool {
    reachesArrays && path[position].utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}

extension JSONSchemaMembers {
  /// The names of "properties".
  fileprivate var properties: [String] {
    names.texts.enumerated().filter { named[$0.offset].index >= 0 }.map(\.element)
  }
}

/// Compiles a schema to nodes: one for each location that is reachable from the root.
final class JSONSchemaCompiler {
  private static let maxWarnings = 100

  private let references: JSONSchemaReferences
  /// The output of the compilation; readers add the constants that their rules refer to.
  var program = JSONSchemaProgram()
  private var locations: [JSONSchemaLocation] = []
  private var known: [JSONKey: Int] = [:]

  /// Compiles a schema; the first node is the root.
  static func compile(_ schema: JSONValue) throws -> JSONSchemaProgram {
    guard schema.depth <= JSONValue.maximumDepth else { throw JSONError.tooDeep }
    let compiler = JSONSchemaCompiler(references: try JSONSchemaReferences(schema))
    _ = compiler.node(compiler.references.document)
    // Reading a location may add further ones; each is added only once.
    var next = 0
    while next < compiler.locations.count {
      let node = try compiler.read(compiler.locations[next])
      compiler.program.nodes[next] = node
      next += 1
    }
    try compiler.checkEnds()
    return compiler.program
  }

  private init(references: JSONSchemaReferences) { self.references = references }

  /// Returns the index of a location's node, which is read later.
  func node(_ location: JSONSchemaLocation) -> Int {
    let key = JSONKey(text: JSONPath.pointer(location.path))
    if let index = known[key] { return index }
    known[key] = locations.count
    program.nodes.append(JSONSchemaNode())
    locations.append(location)
    return locations.count - 1
  }

  /// Returns the index of the node that a "$ref" refers to.
  func node(of reference: String, from location: JSONSchemaLocation) throws -> Int {
    node(try references.location(of: reference, from: location))
  }

  private func read(_ location: JSONSchemaLocation) throws -> JSONSchemaNode {
    switch location.value {
    case .bool(let verdict): return JSONSchemaNode(verdict: verdict)
    case .object(let members):
      let rules = try JSONSchemaReader(location: location, members: members, compiler: self).rules()
      var node = JSONSchemaNode(rules: program.rules.count..<program.rules.count + rules.count)
      if rules.count == 1, case .reference(let target) = rules[0] { node.alias = target }
      if case .unevaluated? = rules.last { node.hasUnevaluated = true }
      program.rules += rules
      return node
    default:
      throw JSONError(
        "a schema is an object or a boolean, not \(location.value.kind)",
        pointer: JSONPath.pointer(location.path)
      )
    }
  }

  /// Notes a keyword without effect.
  func warn(_ keyword: String, at location: JSONSchemaLocation) {
    guard program.warnings.count < Self.maxWarnings else { return }
    program.warnings.append(
      JSONSchemaWarning(
        pointer: JSONPath.pointer(location.path + [keyword]), keyword: keyword,
        suggestion: JSONSchemaKeywords.suggestion(for: keyword)))
  }

  /// Rejects schemas that apply themselves to the same value, which would not terminate.
  private func checkEnds() throws {
    enum Mark { case new, open, done }
    var marks = [Mark](repeating: .new, count: locations.count)
    for start in locations.indices where marks[start] == .new {
      var stack = [(index: start, rest: program.inPlace(start)[...])]
      marks[start] = .open
      while var top = stack.popLast() {
        guard let next = top.rest.popFirst() else {
          marks[top.index] = .done
          continue
        }
        stack.append(top)
        switch marks[next] {
        case .done: break
        case .open:
          throw JSONError(
            "the schema refers to itself without end", pointer: JSONPath.pointer(locations[top.index].path))
        case .new:
          marks[next] = .open
          stack.append((next, program.inPlace(next)[...]))
        }
      }
    }
  }
}

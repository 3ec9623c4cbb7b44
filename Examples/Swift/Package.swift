// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "examples",
  platforms: [.macOS(.v15)],
  // An app would write: .package(url: "https://…/Satchel", from: "0.1.0")
  dependencies: [.package(name: "Satchel", path: "../..")],
  targets: [
    .executableTarget(name: "album", dependencies: [.product(name: "Satchel", package: "Satchel")]),
    .executableTarget(name: "gallery", dependencies: [.product(name: "Satchel", package: "Satchel")]),
    .executableTarget(name: "guide", dependencies: [.product(name: "Satchel", package: "Satchel")]),
    .executableTarget(name: "planner", dependencies: [.product(name: "Satchel", package: "Satchel")]),
    .executableTarget(name: "shelf", dependencies: [.product(name: "Satchel", package: "Satchel")]),
  ]
)

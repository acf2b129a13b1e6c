window.ui = SwaggerUIBundle({
  urls: [
    { url: "nessie-v2.json", name: "Nessie API v2" },
    { url: "nessie-v1.json", name: "Nessie API v1" },
    { url: "iceberg.json", name: "Iceberg REST catalog API" },
    { url: "ext.json", name: "own API" },
  ],
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: "StandaloneLayout",
  deepLinking: true,
  docExpansion: "none",
  validatorUrl: null,
});
